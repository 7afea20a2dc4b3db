/** The deliveries of events to webhooks: those that are due, and their outcomes. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import { Refusal } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import type { WebhookDeliveriesTable, WebhooksTable } from '../../store/tables/events.ts';
import type { Event } from './feed.ts';

export type WebhookDelivery = Selectable<WebhookDeliveriesTable>;
export type Webhook = Selectable<WebhooksTable>;

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];

/** The waits after failed attempts. The last one repeats. */
export const WAITS_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;
/**
 * A delivery is given up after so many attempts (extension: "Webhooks"). Attempts count and not hours, because the clock of a sandbox passes days
 * in a moment.
 */
export const MOST_ATTEMPTS = WAITS_MS.length + 1;
/** Events that one replay sends again. */
export const MAX_REPLAYED = 10_000;
/** Deliveries of an account that may wait when a replay begins. */
export const MAX_WAITING = 20_000;
/** A webhook that responds with it wants no more events. */
const GONE = 410;

/** An event, and the only webhook that receives it, if it is not for all. */
export interface EnteredEvent {
  readonly event: Event;
  readonly webhookId: string | null;
}

/** Adds the deliveries of events to the webhooks of the account that receive them. */
export async function addDeliveries(db: Db, accountId: string, entered: readonly EnteredEvent[], now: number): Promise<void> {
  const webhooks = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('removed', '=', 0)
    .orderBy('id')
    .execute();
  for (const webhook of webhooks) {
    const wanted = entered.filter(({ event, webhookId }) =>
      webhookId === null ? receives(webhook, event.type) : webhookId === webhook.id,
    );
    const room = wanted.length > 0 && webhook.confirming !== null ? MAX_WAITING - (await countWaiting(db, accountId)) : Infinity;
    const events = wanted.filter(({ webhookId }, index) => webhookId !== null || index < room).map(({ event }) => event);
    await addTo(db, webhook.id, { events, now });
  }
}

function receives({ types }: Webhook, type: string): boolean {
  if (types === null) return true;
  const wanted: readonly string[] = JSON.parse(types);
  return wanted.includes(type);
}

/** @returns The number of the last delivery. Undefined if the webhook was removed. */
async function addTo(
  db: Db,
  webhookId: string,
  { events, now }: { readonly events: readonly Delivered[]; readonly now: number },
): Promise<number | undefined> {
  if (events.length === 0) return undefined;
  const last = await takeNumbers(db, webhookId, events.length);
  if (last !== undefined) await insertDeliveries(db, webhookId, { events, first: last - events.length + 1, now });
  return last;
}

/** An event that a webhook receives. */
export type Delivered = Pick<Event, 'id' | 'subject'>;

/** @returns The last of the numbers. Undefined if the webhook was removed. */
async function takeNumbers(db: Db, webhookId: string, count: number): Promise<number | undefined> {
  const row = await db
    .updateTable('webhooks')
    .set(({ eb }) => ({ last_delivery: eb('last_delivery', '+', count) }))
    .where('id', '=', webhookId)
    .where('removed', '=', 0)
    .returning('last_delivery')
    .executeTakeFirst();
  return row?.last_delivery;
}

/** Adds deliveries, except of events that wait for the webhook. */
export async function insertDeliveries(
  db: Db,
  webhookId: string,
  { events, first, now }: { readonly events: readonly Delivered[]; readonly first: number; readonly now: number },
): Promise<void> {
  await db
    .insertInto('webhook_deliveries')
    .values(
      events.map(({ id, subject }, index) => ({
        webhook_id: webhookId,
        number: first + index,
        event_id: id,
        subject,
        state: 'pending' as const,
        ...NOT_ATTEMPTED,
        status: null,
        error: null,
        duration: null,
        last_attempt: null,
        next_attempt: now,
        created: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** A delivery before its first attempt since the webhook was last enabled. */
export const NOT_ATTEMPTED = { attempts: 0, first_attempt: null, claimed_until: 0, claim: null };

/** Sends the event of a delivery again, or now if it waits. @returns The number of the delivery that sends it. */
export async function replayDelivery(db: Db, { webhook_id, event_id, subject }: WebhookDelivery, now: number): Promise<number> {
  const waiting = await db
    .updateTable('webhook_deliveries')
    .set({ next_attempt: now })
    .where('webhook_id', '=', webhook_id)
    .where('event_id', '=', event_id)
    .where('state', '=', PENDING)
    .returning('number')
    .executeTakeFirst();
  const number = waiting?.number ?? (await addTo(db, webhook_id, { events: [{ id: event_id, subject }], now }));
  if (number === undefined) throw new Error(`The webhook ${webhook_id} does not exist.`);
  return number;
}

/**
 * Begins to send all events again that a webhook receives and that came into the feed since an instant, except those that wait for it. Their
 * deliveries are added in steps.
 *
 * @returns Their number.
 * @throws Refusal 409 if there are too many, too many deliveries wait, or a replay is in progress.
 */
export async function beginReplay(db: Db, webhook: Webhook, since: number): Promise<number> {
  const { account_id: accountId } = webhook;
  await lockAccount(db, accountId);
  const { replay_until } = await db.selectFrom('webhooks').select('replay_until').where('id', '=', webhook.id).executeTakeFirstOrThrow();
  if (replay_until !== null)
    throw new Refusal(
      409,
      'wrong_state',
      'A replay of this webhook is in progress. Send this one when the deliveries of the other are listed.',
    );
  const { count, first, last } = await replayable(db, webhook, since);
  if (count > MAX_REPLAYED)
    throw new Refusal(
      409,
      'wrong_state',
      `More than ${MAX_REPLAYED} events came into the feed since then. Choose a later instant, or read them with POST /account/events.`,
    );
  if (count === 0 || first === null) return 0;
  await assertMayWait(db, accountId, count);
  const number = await takeNumbers(db, webhook.id, count);
  if (number === undefined) return 0;
  await db
    .updateTable('webhooks')
    .set({ has_steps: 1, replay_after: first - 1, replay_until: last, replay_number: number - count + 1 })
    .where('id', '=', webhook.id)
    .execute();
  return count;
}

/** The events that a replay sends, and their first and last position. The count ends beyond the limit. */
async function replayable(
  db: Db,
  webhook: Webhook,
  since: number,
): Promise<{ readonly count: number; readonly first: number | null; readonly last: number | null }> {
  const found = eventsToReplay(db, webhook)
    .select('position')
    .where('entered', '>=', since)
    // Positions follow the times, and an index has both.
    .orderBy('entered')
    .orderBy('position')
    .limit(MAX_REPLAYED + 1)
    .as('found');
  const { count, first, last } = await db
    .selectFrom(found)
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.min<number | null>('position').as('first'),
      fn.max<number | null>('position').as('last'),
    ])
    .executeTakeFirstOrThrow();
  return { count: Number(count), first, last };
}

/** The events of the feed that a webhook receives and that do not wait for it. */
export function eventsToReplay(db: Db, { id, account_id, types }: Webhook) {
  const wanted: readonly string[] | undefined = types === null ? undefined : JSON.parse(types);
  return db
    .selectFrom('events')
    .where('account_id', '=', account_id)
    .where('type', '!=', TEST_EVENT)
    .$if(wanted !== undefined, (query) => query.where('type', 'in', wanted ?? []))
    .where(
      ({ selectFrom }) =>
        selectFrom('webhook_deliveries')
          .select('number')
          .where('webhook_id', '=', id)
          .whereRef('event_id', '=', 'events.id')
          .where('state', '=', PENDING),
      // PostgreSQL makes a join of `not exists`. Planned for a small table, it reads all deliveries of the webhook for each event.
      'is',
      null,
    );
}

/** @throws Refusal 409 if an account may not have so many more deliveries that wait. */
export async function assertMayWait(db: Db, accountId: string, more: number): Promise<void> {
  if ((await countWaiting(db, accountId)) + more <= MAX_WAITING) return;
  throw new Refusal(
    409,
    'quota_exceeded',
    `More than ${MAX_WAITING} deliveries of this account would wait. Wait until some have ended, choose a later instant, or remove a webhook that receives nothing.`,
  );
}

/** The deliveries of an account that wait, counted up to the limit. */
async function countWaiting(db: Db, accountId: string): Promise<number> {
  const waiting = db
    .selectFrom('webhook_deliveries')
    .select('event_id')
    .where('webhook_id', 'in', (eb) => eb.selectFrom('webhooks').select('id').where('account_id', '=', accountId))
    .where('state', '=', PENDING)
    .limit(MAX_WAITING)
    .as('waiting');
  const { count } = await db
    .selectFrom(waiting)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** In the text of a query, not as a parameter: the engines use a partial index only if they can see that a query needs no other rows. */
export const PENDING = sql.lit('pending' as const);

/** The type of the event that an account sends to try a webhook. */
export const TEST_EVENT = 'webhook.test';

/** Enabled webhooks of an account with deliveries whose time has come, the one that has waited longest first. */
export function webhooksWithDue(db: Db, accountId: string, now: number): Promise<Webhook[]> {
  return dueWebhooks(db, now).selectAll().where('account_id', '=', accountId).orderBy(dueSince).orderBy('id').execute();
}

/** The accounts of enabled webhooks with deliveries whose time has come, the one that has waited longest first. */
export async function accountsWithDue(db: Db, now: number): Promise<readonly string[]> {
  const rows = await dueWebhooks(db, now)
    .select('account_id')
    .groupBy('account_id')
    .orderBy(sql`min(${dueSince})`)
    .orderBy('account_id')
    .execute();
  return rows.map(({ account_id }) => account_id);
}

/** SQL: when the first due delivery of a webhook was due. Only the one that confirms its URL is due before the others. */
export const dueSince = sql<number>`(case when confirming is null then (
  select min(next_attempt) from webhook_deliveries
  where webhook_id = webhooks.id and state = 'pending' and blocked = 0
) else (
  select next_attempt from webhook_deliveries where webhook_id = webhooks.id and number = confirming
) end)`;

export function dueWebhooks(db: Db, now: number) {
  return db
    .selectFrom('webhooks')
    .where('enabled', '=', 1)
    .where('removed', '=', 0)
    .where('resume_after', 'is', null)
    .where(({ and, eb, exists, or, selectFrom }) => {
      const due = selectFrom('webhook_deliveries')
        .select('number')
        .whereRef('webhook_id', '=', 'webhooks.id')
        .where('state', '=', PENDING)
        .where('next_attempt', '<=', now)
        .where('claimed_until', '<=', now);
      return or([
        and([eb('confirming', 'is', null), exists(due.where('blocked', '=', sql.lit(0)))]),
        exists(due.whereRef('number', '=', 'webhooks.confirming')),
      ]);
    });
}

/** The due deliveries of a webhook to look for. */
export interface DueOptions {
  readonly webhookId: string;
  /** The only one that may be due. Null if the URL is confirmed. */
  readonly confirming: number | null;
  readonly now: number;
}

/** A delivery that this instance sends, with its event. */
export type Claimed = Pick<WebhookDelivery, 'webhook_id' | 'number'> & { readonly claim: string; readonly event: Event };

/** The due deliveries of a webhook, with their events. The first of a subject is due, unless a replay is adding earlier ones. */
export function dueDeliveries(db: Db, { webhookId, confirming, now }: DueOptions) {
  const due = db
    .selectFrom('webhook_deliveries as due')
    .innerJoin('events', 'events.id', 'due.event_id')
    .selectAll('events')
    .select('number')
    .where('webhook_id', '=', webhookId)
    .where('state', '=', PENDING)
    .where('next_attempt', '<=', now)
    .where('claimed_until', '<=', now);
  if (confirming !== null) return due.where('number', '=', confirming);
  return due
    .where('blocked', '=', sql.lit(0))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('webhook_deliveries as earlier')
            .select('earlier.number')
            .where('earlier.webhook_id', '=', webhookId)
            .where('earlier.state', '=', PENDING)
            .whereRef('earlier.subject', '=', 'due.subject')
            .whereRef('earlier.number', '<', 'due.number'),
        ),
      ),
    )
    .orderBy('next_attempt')
    .orderBy('number');
}

/**
 * Claims due deliveries of a webhook. One of a subject is due when all earlier ones of the subject have ended.
 *
 * @param claim Until when, and the unique name of the claim.
 */
export async function claimDueDeliveries(
  db: Db,
  { limit, ...options }: DueOptions & { readonly limit: number },
  claim: { readonly until: number; name(): string },
): Promise<readonly Claimed[]> {
  const { webhookId, now } = options;
  const due = await dueDeliveries(db, options).limit(limit).execute();
  const claimed: Claimed[] = [];
  for (const { number, ...event } of due) {
    const name = claim.name();
    const { numUpdatedRows } = await db
      .updateTable('webhook_deliveries')
      .set({ claimed_until: claim.until, claim: name })
      .where('webhook_id', '=', webhookId)
      .where('number', '=', number)
      .where('state', '=', 'pending')
      .where('claimed_until', '<=', now)
      .executeTakeFirst();
    if (numUpdatedRows === 1n) claimed.push({ webhook_id: webhookId, number, claim: name, event });
  }
  return claimed;
}

/** How an attempt ended. */
export interface Attempt {
  /** The HTTP status. Null without a response. */
  readonly status: number | null;
  /** Undefined if the webhook has accepted the event. */
  readonly error: string | undefined;
  /** Milliseconds. */
  readonly duration: number;
}

/** Stores how an attempt ended, unless the claim was lost, or the webhook was removed. */
export async function storeAttempt(
  db: Db,
  { webhook_id, number, claim }: Claimed,
  { attempt: { status, error, duration }, now }: { readonly attempt: Attempt; readonly now: number },
): Promise<void> {
  const mine = await db
    .updateTable('webhook_deliveries')
    .set(({ eb, fn, ref, val }) => ({
      attempts: eb('attempts', '+', 1),
      first_attempt: fn.coalesce(ref('first_attempt'), val(now)),
      last_attempt: now,
      status,
      error: error ?? null,
      duration,
      claimed_until: 0,
      claim: null,
      ...(error === undefined && { state: 'delivered' as const }),
    }))
    .where('webhook_id', '=', webhook_id)
    .where('number', '=', number)
    .where('claim', '=', claim)
    .returning(['attempts', 'first_attempt'])
    .executeTakeFirst();
  if (!mine) return;
  if (error === undefined) {
    await db
      .updateTable('webhooks')
      .set(({ fn, ref, val }) => ({ failing_since: null, confirming: fn('nullif', [ref('confirming'), val(number)]) }))
      .where('id', '=', webhook_id)
      .where(({ eb, or }) => or([eb('failing_since', 'is not', null), eb('confirming', '=', number)]))
      .execute();
    return;
  }
  const { failing_since } = await db
    .updateTable('webhooks')
    .set(({ fn, ref, val }) => ({ failing_since: fn.coalesce(ref('failing_since'), val(now)) }))
    .where('id', '=', webhook_id)
    .returning('failing_since')
    .executeTakeFirstOrThrow();
  const wait = WAITS_MS[Math.min(mine.attempts, WAITS_MS.length) - 1] ?? 0;
  const first = mine.first_attempt ?? now;
  const isGivenUp = mine.attempts >= MOST_ATTEMPTS;
  // Where nothing arrives, the webhook is disabled and its deliveries wait. If others arrive, only this one is given up.
  const reason = reasonToDisable({ status, hasAlwaysFailed: isGivenUp && (failing_since ?? now) <= first });
  if (reason !== undefined) await disable(db, webhook_id, reason);
  await db
    .updateTable('webhook_deliveries')
    .set(isGivenUp && reason === undefined ? { state: 'failed' } : { next_attempt: now + wait })
    .where('webhook_id', '=', webhook_id)
    .where('number', '=', number)
    .execute();
}

function reasonToDisable({
  status,
  hasAlwaysFailed,
}: {
  readonly status: number | null;
  readonly hasAlwaysFailed: boolean;
}): string | undefined {
  if (status === GONE) return 'The URL responded with 410, which says that it wants no more events.';
  return hasAlwaysFailed ? `Nothing arrived at the URL, to which an event was sent ${MOST_ATTEMPTS} times.` : undefined;
}

async function disable(db: Db, webhookId: string, reason: string): Promise<void> {
  await db
    .updateTable('webhooks')
    .set({ enabled: 0, disabled_reason: reason })
    .where('id', '=', webhookId)
    .where('enabled', '=', 1)
    .execute();
}

/** A delivery with the type of its event. */
export type ListedDelivery = WebhookDelivery & Pick<Event, 'type'>;

export function findDelivery(db: Db, webhookId: string, number: number): Promise<WebhookDelivery | undefined> {
  return db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('number', '=', number)
    .executeTakeFirst();
}

/** A part of the deliveries of a webhook, the newest first. */
export interface DeliveryPage {
  readonly webhookId: string;
  /** Only those with lower numbers. */
  readonly before: number | undefined;
  readonly limit: number;
  readonly state: string | undefined;
}

export function deliveriesOf(db: Db, { webhookId, before, limit, state }: DeliveryPage) {
  return db
    .selectFrom('webhook_deliveries')
    .innerJoin('events', 'events.id', 'webhook_deliveries.event_id')
    .selectAll('webhook_deliveries')
    .select('type')
    .where('webhook_id', '=', webhookId)
    .where(before === undefined ? sql<boolean>`1 = 1` : sql<boolean>`number < ${before}`)
    .where(state === undefined ? sql<boolean>`1 = 1` : sql<boolean>`state = ${state}`)
    .orderBy('number', 'desc')
    .limit(limit);
}
