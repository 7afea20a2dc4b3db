/** The feed of events of an account. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import type { Runtime } from '../../delivery/runtime.ts';
import { MS_PER_DAY } from '../../rules/day.ts';
import type { Random } from '../../rules/random.ts';
import { Refusal } from '../../rules/refusal.ts';
import type { Db, Store } from '../../store/store.ts';
import type { EventInboxTable, EventsTable } from '../../store/tables/events.ts';
import { tuningOf } from '../../store/tuning.ts';
import { addDeliveries, TEST_EVENT } from './deliveries.ts';
import type { Webhook } from './deliveries.ts';
import { dataOf } from './event-data.ts';
import type { Facts } from './event-data.ts';
import { deleteWebhook, findWebhook } from './webhook.ts';

export type Event = Selectable<EventsTable>;

/** How long events and deliveries are kept (extension: "Events"). */
export const EVENT_DAYS = 30;

/** What entering events needs. */
export interface Entrance {
  readonly store: Store;
  readonly random: Random;
  /** Milliseconds. */
  readonly now: number;
}

/** Like `enterEvents` for all accounts, in a transaction that has locked everything. */
export async function enterNoted(db: Db, entrance: Entrance): Promise<void> {
  for (const accountId of await accountsWithNoted(db)) await enterEvents(db, accountId, entrance);
}

/** The accounts with noted events, the one that has waited longest first. */
export async function accountsWithNoted(db: Db): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('event_inbox')
    .select('account_id')
    .groupBy('account_id')
    .orderBy(({ fn }) => fn.min('id'))
    .execute();
  return rows.map(({ account_id }) => account_id);
}

export async function hasNoted(db: Db, accountId: string): Promise<boolean> {
  return (await db.selectFrom('event_inbox').select('id').where('account_id', '=', accountId).limit(1).executeTakeFirst()) !== undefined;
}

/** Lets no other transaction enter events of an account. It is locked before the account and its webhooks. */
export function lockFeed(db: Db, accountId: string, { store }: Entrance): Promise<void> {
  return store.sharing.lock(db, `events of ${accountId}`);
}

/**
 * Moves all noted events of an account into its feed, and to the webhooks that receive them. An account can have many, so requests first call
 * `enterInSteps`.
 *
 * A transaction that notes an event may commit after one that noted a later event. So an event gets its position here, after its commit, in
 * transactions of an account that run one after the other: a reader that has seen a position has seen all before it.
 */
export async function enterEvents(db: Db, accountId: string, entrance: Entrance): Promise<void> {
  while (await enterBatch(db, accountId, entrance));
}

/** Like `enterEvents`, each batch in a transaction of its own. */
export async function enterInSteps({ accountId, now, runtime: { store, ports } }: EnteringCall): Promise<void> {
  while (await store.commit(({ db }) => enterBatch(db, accountId, { store, random: ports.random, now })));
}

/** A call of an operation that needs all events of its account in the feed. */
interface EnteringCall {
  readonly accountId: string;
  /** Milliseconds. */
  readonly now: number;
  readonly runtime: Pick<Runtime, 'store' | 'ports'>;
}

/** Moves the oldest noted events of an account into its feed. @returns Whether there may be more. */
export async function enterBatch(db: Db, accountId: string, entrance: Entrance): Promise<boolean> {
  const { random, now } = entrance;
  if (!(await hasNoted(db, accountId))) return false;
  await lockFeed(db, accountId, entrance);
  const noted = await takeNoted(db, accountId);
  if (noted.length === 0) return false;
  const { last } = await db
    .insertInto('event_feeds')
    .values({ account_id: accountId, last: noted.length, deleted: 0 })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(({ eb }) => ({ last: eb('event_feeds.last', '+', noted.length) })))
    .returning('last')
    .executeTakeFirstOrThrow();
  const entered = noted.map(({ type, subject, facts, webhook_id }, index) => ({
    event: {
      id: uuidv7({ msecs: now, random: random.bytes(16) }),
      account_id: accountId,
      position: last - noted.length + 1 + index,
      type,
      subject,
      data: JSON.stringify(dataOf(type, parseFacts(facts))),
      entered: now,
    },
    webhookId: webhook_id,
  }));
  await db
    .insertInto('events')
    .values(entered.map(({ event }) => event))
    .execute();
  await addDeliveries(db, accountId, entered, now);
  return noted.length === tuningOf(db).jobBatch;
}

/** Enters an event that only one webhook receives. @returns The number of its delivery. */
export async function enterTest(db: Db, { id, account_id }: Pick<Webhook, 'id' | 'account_id'>, entrance: Entrance): Promise<number> {
  const facts = JSON.stringify({ webhook_id: id });
  await db
    .insertInto('event_inbox')
    .values({ account_id, type: TEST_EVENT, subject: `webhook/${id}`, facts, webhook_id: id })
    .execute();
  await enterEvents(db, account_id, entrance);
  const { last_delivery } = await findWebhook(db, account_id, id);
  return last_delivery;
}

/** Removes the oldest noted events of an account from the inbox. */
async function takeNoted(db: Db, accountId: string): Promise<Selectable<EventInboxTable>[]> {
  const noted = await db
    .selectFrom('event_inbox')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('id')
    .limit(tuningOf(db).jobBatch)
    .execute();
  const ids = noted.map(({ id }) => id);
  if (ids.length > 0) await db.deleteFrom('event_inbox').where('id', 'in', ids).execute();
  return noted;
}

function parseFacts(facts: string): Facts {
  return JSON.parse(facts);
}

/** A part of a feed. */
export interface FeedPage {
  readonly accountId: string;
  /** The position of the last event that the reader has seen. Undefined to begin with the oldest. */
  readonly after: number | undefined;
  readonly limit: number;
  /** The only type to return. */
  readonly type: string | undefined;
}

/**
 * Events in the order of their positions, with the position to continue after.
 *
 * @throws Refusal 400 if events after the position were deleted, or the feed does not have it.
 */
export async function readFeed(
  db: Db,
  { accountId, after, limit, type }: FeedPage,
): Promise<{ readonly events: readonly Event[]; readonly next: number; readonly hasMore: boolean }> {
  const feed = await db.selectFrom('event_feeds').selectAll().where('account_id', '=', accountId).executeTakeFirst();
  const { last, deleted } = feed ?? { last: 0, deleted: 0 };
  const start = after ?? deleted;
  if (start < deleted)
    throw new Refusal(
      400,
      'cursor_expired',
      `Events after this cursor were deleted, because they are kept for ${EVENT_DAYS} days. Compare your data with the lists of the API, then call without cursor, which begins with the oldest event.`,
    );
  if (start > last)
    throw new Refusal(400, 'malformed_request', 'The cursor is not from this feed. Send the next_cursor of an earlier response, or none.');
  const found = await eventsAfter(db, { accountId, start, type })
    .limit(limit + 1)
    .execute();
  const events = found.slice(0, limit);
  const hasMore = found.length > limit;
  // Events of other types up to the end of the feed need not be read again.
  return { events, next: hasMore ? (events.at(-1)?.position ?? start) : last, hasMore };
}

export function eventsAfter(db: Db, { accountId, start, type }: Pick<FeedPage, 'accountId' | 'type'> & { readonly start: number }) {
  return db
    .selectFrom('events')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('position', '>', start)
    .$if(type !== undefined, (query) => query.where('type', '=', type ?? ''))
    .orderBy('position');
}

/** The JSON text of an event, the same in each delivery. */
export function payloadOf({ id, type, entered, subject, data }: Pick<Event, 'id' | 'type' | 'entered' | 'subject' | 'data'>): string {
  return JSON.stringify({ id, type, timestamp: new Date(entered).toISOString(), subject, data: JSON.parse(data) });
}

/** Deletes the feed of an account with its webhooks. */
export async function forgetEvents(db: Db, accountId: string): Promise<void> {
  const webhooks = db.selectFrom('webhooks').select('id').where('account_id', '=', accountId);
  for (const table of ['webhook_deliveries', 'webhook_secrets'] as const)
    await db.deleteFrom(table).where('webhook_id', 'in', webhooks).execute();
  for (const table of ['webhooks', 'events', 'event_feeds', 'event_inbox'] as const)
    await db.deleteFrom(table).where('account_id', '=', accountId).execute();
}

/** Removes the webhooks of an account that is erased. Its events and deliveries are deleted in steps. */
export async function beginForgettingEvents(db: Db, accountId: string): Promise<void> {
  const webhooks = db.selectFrom('webhooks').select('id').where('account_id', '=', accountId);
  for (const { id } of await webhooks.execute()) await deleteWebhook(db, id);
  await db.deleteFrom('event_inbox').where('account_id', '=', accountId).execute();
  await db
    .insertInto('event_feeds')
    .values({ account_id: accountId, last: 0, deleted: 0, forgotten: 1 })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ forgotten: 1 }))
    .execute();
}

/** Deletes events that are older than they are kept, with their deliveries, in small transactions. */
export async function deleteOldEvents(store: Store, now: number): Promise<void> {
  const end = now - EVENT_DAYS * MS_PER_DAY;
  if (!(await store.read((db) => oldEvents(db, now).select('id').limit(1).executeTakeFirst()))) return;
  while ((await store.commit(({ db }) => deleteEventsBefore(db, end))) === store.tuning.cleanUpBatch);
}

/**
 * Whether no enabled webhook waits for an event. The clock of a sandbox can pass the days that events are kept before the sender has made all its
 * attempts.
 */
const isAwaitedByNone = sql<boolean>`not exists (
  select 1 from webhook_deliveries join webhooks on webhooks.id = webhook_deliveries.webhook_id
  where webhook_deliveries.event_id = events.id and webhook_deliveries.state = 'pending'
    and webhooks.enabled = 1
)`;

/** Events that the feed no longer has. */
export function oldEvents(db: Db, now: number) {
  return db
    .selectFrom('events')
    .where('entered', '<', now - EVENT_DAYS * MS_PER_DAY)
    .where(isAwaitedByNone);
}

async function deleteEventsBefore(db: Db, end: number): Promise<number> {
  const old = await db
    .selectFrom('events')
    .select(['id', 'account_id', 'position'])
    .where('entered', '<', end)
    .where(isAwaitedByNone)
    // The order of events of the same instant does not matter: the feed begins after the last one that was deleted.
    .orderBy('entered')
    .limit(tuningOf(db).cleanUpBatch)
    .execute();
  if (old.length === 0) return 0;
  const ids = old.map(({ id }) => id);
  await db.deleteFrom('webhook_deliveries').where('event_id', 'in', ids).execute();
  await db.deleteFrom('events').where('id', 'in', ids).execute();
  for (const [accountId, rows] of Map.groupBy(old, ({ account_id }) => account_id)) {
    const deleted = Math.max(...rows.map(({ position }) => position));
    await db.updateTable('event_feeds').set({ deleted }).where('account_id', '=', accountId).where('deleted', '<', deleted).execute();
  }
  return old.length;
}
