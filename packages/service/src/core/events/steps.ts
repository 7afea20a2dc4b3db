/** What grows with the events and deliveries of an account: it is added, changed and deleted in steps, each in a transaction of its own. */
import { sql } from 'kysely';

import type { WorkKind } from '../../delivery/background-work.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import type { Db, Store } from '../../store/store.ts';
import { tuningOf } from '../../store/tuning.ts';
import { eventsToReplay, insertDeliveries, NOT_ATTEMPTED, PENDING } from './deliveries.ts';
import type { Webhook } from './deliveries.ts';
import { accountsWithNoted, enterBatch, hasNoted } from './feed.ts';

/** In the text of queries, so that they use partial indexes. */
const ONE = sql.lit(1);
/** Steps of an account run one after another, and those of a few accounts at the same time. */
const PLACES = 4;

export function eventSteps({ store, ports }: Runtime, onFailure: (error: unknown) => void): WorkKind<string> {
  return {
    places: PLACES,
    placesEach: 1,
    due: queryOfSteps,
    accounts: () => store.read(accountsWithSteps),
    async take(accountId) {
      return (await store.read((db) => nextStep(db, accountId))) && accountId;
    },
    async perform(accountId) {
      const now = ports.clock.now();
      await store.commit(async ({ db }) => {
        const next = await nextStep(db, accountId);
        if (next === 'feed') return deleteFeed(db, accountId);
        if (next !== undefined) await performStep(db, store, next, now);
      });
    },
    onFailure,
  };
}

/**
 * Moves the noted events of all accounts into their feeds, and to the webhooks that receive them.
 *
 * @param onEntered Called after each batch.
 * @param onFailure Called with the account whose events stay noted, because the store fails. The others go on.
 */
export function feedWork(
  { store, ports }: Runtime,
  onEntered: () => void,
  onFailure: (failed: { readonly account?: string; readonly error: unknown }) => void,
): WorkKind<string> {
  return {
    places: PLACES,
    placesEach: 1,
    due: (db) => db.selectFrom('event_inbox').select('id'),
    accounts: () => store.read(accountsWithNoted),
    async take(accountId) {
      return (await store.read((db) => hasNoted(db, accountId))) ? accountId : undefined;
    },
    async perform(accountId) {
      const entrance = { store, random: ports.random, now: ports.clock.now() };
      try {
        await store.commit(({ db }) => enterBatch(db, accountId, entrance));
      } catch (error) {
        onFailure({ account: accountId, error });
        return 'later';
      }
      return onEntered();
    },
    onFailure: (error) => onFailure({ error }),
  };
}

function queryOfSteps(db: Db) {
  return db
    .selectFrom('webhooks')
    .select('account_id')
    .where('has_steps', '=', ONE)
    .union(db.selectFrom('event_feeds').select('account_id').where('forgotten', '=', ONE));
}

async function accountsWithSteps(db: Db): Promise<readonly string[]> {
  const rows = await queryOfSteps(db).orderBy('account_id').execute();
  return rows.map(({ account_id }) => account_id);
}

/** The identifier of a webhook with steps, or the feed, whose events can be deleted once no delivery refers to them. */
async function nextStep(db: Db, accountId: string): Promise<{ readonly webhookId: string } | 'feed' | undefined> {
  const webhook = await db
    .selectFrom('webhooks')
    .select('id')
    .where('account_id', '=', accountId)
    .where('has_steps', '=', ONE)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (webhook) return { webhookId: webhook.id };
  const feed = await db
    .selectFrom('event_feeds')
    .select('account_id')
    .where('account_id', '=', accountId)
    .where('forgotten', '=', ONE)
    .executeTakeFirst();
  return feed && 'feed';
}

/** Another instance may have performed steps since the webhook was found. */
async function performStep(db: Db, store: Store, { webhookId }: { readonly webhookId: string }, now: number): Promise<void> {
  const found = db.selectFrom('webhooks').selectAll().where('id', '=', webhookId).where('has_steps', '=', ONE);
  const webhook = await store.sharing.claim(found, 'webhooks', 'wait').executeTakeFirst();
  if (!webhook) return;
  if (webhook.removed === 1) return deleteDeliveries(db, webhook);
  if (webhook.resume_after !== null) return resume(db, webhook, { after: webhook.resume_after, now });
  return replay(db, webhook, now);
}

/** The newest ones are deleted first, so that no deletion lets another delivery be sent. */
async function deleteDeliveries(db: Db, { id }: Webhook): Promise<void> {
  const { deliveryStep } = tuningOf(db);
  const rows = await db
    .selectFrom('webhook_deliveries')
    .select('number')
    .where('webhook_id', '=', id)
    .orderBy('number', 'desc')
    .limit(deliveryStep)
    .execute();
  const numbers = rows.map(({ number }) => number);
  // By their numbers, because PostgreSQL reads the whole table for a range without an end if its statistics are old.
  if (numbers.length > 0) await db.deleteFrom('webhook_deliveries').where('webhook_id', '=', id).where('number', 'in', numbers).execute();
  if (rows.length < deliveryStep) await db.deleteFrom('webhooks').where('id', '=', id).execute();
}

/** Makes waiting deliveries due, with all their attempts. */
async function resume(
  db: Db,
  { id, replay_until }: Webhook,
  { after, now }: { readonly after: string; readonly now: number },
): Promise<void> {
  const { deliveryStep } = tuningOf(db);
  const rows = await db
    .selectFrom('webhook_deliveries')
    .select('event_id')
    .where('webhook_id', '=', id)
    .where('state', '=', PENDING)
    .where('event_id', '>', after)
    .orderBy('event_id')
    .limit(deliveryStep)
    .execute();
  const last = rows.at(-1)?.event_id;
  if (last !== undefined)
    await db
      .updateTable('webhook_deliveries')
      .set({ ...NOT_ATTEMPTED, next_attempt: now })
      .where('webhook_id', '=', id)
      .where('state', '=', PENDING)
      .where('event_id', '>', after)
      .where('event_id', '<=', last)
      .execute();
  const next = rows.length < deliveryStep ? null : (last ?? null);
  await db
    .updateTable('webhooks')
    .set({ resume_after: next, has_steps: next === null && replay_until === null ? 0 : 1 })
    .where('id', '=', id)
    .execute();
}

async function replay(db: Db, webhook: Webhook, now: number): Promise<void> {
  const { id, replay_after, replay_until, replay_number } = webhook;
  const { deliveryStep } = tuningOf(db);
  const events = await eventsToReplay(db, webhook)
    .select(['id', 'subject', 'position'])
    .where('position', '>', replay_after ?? 0)
    .where('position', '<=', replay_until ?? 0)
    .orderBy('position')
    .limit(deliveryStep)
    .execute();
  const first = replay_number ?? 0;
  if (events.length > 0) await insertDeliveries(db, id, { events, first, now });
  const last = events.at(-1)?.position;
  const isDone = events.length < deliveryStep || last === undefined;
  await db
    .updateTable('webhooks')
    .set(
      isDone
        ? { has_steps: 0, replay_after: null, replay_until: null, replay_number: null }
        : { replay_after: last, replay_number: first + events.length },
    )
    .where('id', '=', id)
    .execute();
}

/** Deletes events of an account that was erased. */
async function deleteFeed(db: Db, accountId: string): Promise<void> {
  const { deliveryStep } = tuningOf(db);
  const rows = await db.selectFrom('events').select('id').where('account_id', '=', accountId).limit(deliveryStep).execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await db.deleteFrom('events').where('id', 'in', ids).execute();
  if (ids.length < deliveryStep) await db.deleteFrom('event_feeds').where('account_id', '=', accountId).execute();
}
