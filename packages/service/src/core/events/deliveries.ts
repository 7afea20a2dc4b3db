/** The deliveries of events to webhooks: those that are due, and their outcomes. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import { Refusal } from '../../rules/refusal.ts';
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
/** A delivery that has failed for this long is given up (extension: "Webhooks"). */
export const GIVE_UP_MS = 72 * HOUR_MS;
/** Events that one replay sends again. */
export const MAX_REPLAYED = 10_000;
const ROWS_PER_INSERT = 500;
/** A webhook that responds with it wants no more events. */
const GONE = 410;

/** An event, and the only webhook that receives it, if it is not for all. */
export interface EnteredEvent {
  readonly event: Event;
  readonly webhookId: string | null;
}

/** Adds the deliveries of events to the webhooks of the account that receive them. */
export async function addDeliveries(db: Db, accountId: string, entered: readonly EnteredEvent[], now: number): Promise<void> {
  const webhooks = await db.selectFrom('webhooks').selectAll().where('account_id', '=', accountId).orderBy('id').execute();
  for (const webhook of webhooks) {
    const wanted = entered.filter(({ event, webhookId }) =>
      webhookId === null ? receives(webhook, event.type) : webhookId === webhook.id,
    );
    await addTo(db, webhook.id, { events: wanted.map(({ event }) => event), now });
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
  { events, now }: { readonly events: readonly Pick<Event, 'id' | 'subject'>[]; readonly now: number },
): Promise<number | undefined> {
  if (events.length === 0) return undefined;
  const count = events.length;
  const row = await db
    .updateTable('webhooks')
    .set(({ eb }) => ({ last_delivery: eb('last_delivery', '+', count) }))
    .where('id', '=', webhookId)
    .returning('last_delivery')
    .executeTakeFirst();
  if (!row) return undefined;
  const first = row.last_delivery - count + 1;
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
    .execute();
  return row.last_delivery;
}

const NOT_ATTEMPTED = { attempts: 0, first_attempt: null, claimed_until: 0, claim: null };

/** Sends the event of a delivery again, or a pending one now. @returns The number of the delivery that sends it. */
export async function replayDelivery(
  db: Db,
  { webhook_id, number: replayed, event_id, subject, state }: WebhookDelivery,
  now: number,
): Promise<number> {
  if (state === 'pending') {
    await db
      .updateTable('webhook_deliveries')
      .set({ next_attempt: now })
      .where('webhook_id', '=', webhook_id)
      .where('number', '=', replayed)
      .execute();
    return replayed;
  }
  const number = await addTo(db, webhook_id, { events: [{ id: event_id, subject }], now });
  if (number === undefined) throw new Error(`The webhook ${webhook_id} does not exist.`);
  return number;
}

/**
 * Sends all events that a webhook receives and that came into the feed since an instant again.
 *
 * @returns Their number.
 * @throws Refusal 409 if there are too many.
 */
export async function replaySince(
  db: Db,
  webhook: Webhook,
  { since, now }: { readonly since: number; readonly now: number },
): Promise<number> {
  let query = db
    .selectFrom('events')
    .select(['id', 'subject'])
    .where('account_id', '=', webhook.account_id)
    .where('entered', '>=', since)
    .where('type', '!=', TEST_EVENT);
  if (webhook.types !== null) {
    const types: string[] = JSON.parse(webhook.types);
    query = query.where('type', 'in', types);
  }
  const events = await query
    .orderBy('position')
    .limit(MAX_REPLAYED + 1)
    .execute();
  if (events.length > MAX_REPLAYED)
    throw new Refusal(
      409,
      'wrong_state',
      `More than ${MAX_REPLAYED} events came into the feed since then. Choose a later instant, or read them with POST /account/events.`,
    );
  for (let from = 0; from < events.length; from += ROWS_PER_INSERT)
    await addTo(db, webhook.id, { events: events.slice(from, from + ROWS_PER_INSERT), now });
  return events.length;
}

/** The type of the event that an account sends to try a webhook. */
export const TEST_EVENT = 'webhook.test';

/** Makes the deliveries that have waited for a webhook due, with all their attempts. */
export async function resumeDeliveries(db: Db, webhookId: string, now: number): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({ ...NOT_ATTEMPTED, next_attempt: now })
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'pending')
    .execute();
}

/** Enabled webhooks with deliveries whose time has come. */
export function webhooksWithDue(db: Db, now: number): Promise<Webhook[]> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('enabled', '=', 1)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_deliveries')
          .select('number')
          .whereRef('webhook_id', '=', 'webhooks.id')
          .where('state', '=', 'pending')
          .where('next_attempt', '<=', now),
      ),
    )
    .execute();
}

/** A delivery that this instance sends, with its event. */
export type Claimed = Pick<WebhookDelivery, 'webhook_id' | 'number'> & { readonly claim: string; readonly event: Event };

/**
 * Claims due deliveries of a webhook. One of a subject is due when all earlier ones of the subject have ended.
 *
 * @param claim Until when, and the unique name of the claim.
 */
export async function claimDueDeliveries(
  db: Db,
  { webhookId, limit, now }: { readonly webhookId: string; readonly limit: number; readonly now: number },
  claim: { readonly until: number; name(): string },
): Promise<readonly Claimed[]> {
  const due = await db
    .selectFrom('webhook_deliveries as due')
    .innerJoin('events', 'events.id', 'due.event_id')
    .selectAll('events')
    .select('number')
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'pending')
    .where('next_attempt', '<=', now)
    .where('claimed_until', '<=', now)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('webhook_deliveries as earlier')
            .select('earlier.number')
            .where('earlier.webhook_id', '=', webhookId)
            .where('earlier.state', '=', 'pending')
            .whereRef('earlier.subject', '=', 'due.subject')
            .whereRef('earlier.number', '<', 'due.number'),
        ),
      ),
    )
    .orderBy('number')
    .limit(limit)
    .execute();
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
      .set({ failing_since: null })
      .where('id', '=', webhook_id)
      .where('failing_since', 'is not', null)
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
  const isGivenUp = now - first >= GIVE_UP_MS;
  // Where nothing arrives, the webhook is disabled and its deliveries wait. If others arrive, only this one is given up.
  const reason = reasonToDisable({ status, hasFailedLong: isGivenUp && (failing_since ?? now) <= first });
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
  hasFailedLong,
}: {
  readonly status: number | null;
  readonly hasFailedLong: boolean;
}): string | undefined {
  if (status === GONE) return 'The URL responded with 410, which says that it wants no more events.';
  return hasFailedLong ? `Nothing that was sent to the URL in ${GIVE_UP_MS / HOUR_MS} hours arrived.` : undefined;
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

export function deliveriesOf(db: Db, { webhookId, before, limit, state }: DeliveryPage): Promise<ListedDelivery[]> {
  return db
    .selectFrom('webhook_deliveries')
    .innerJoin('events', 'events.id', 'webhook_deliveries.event_id')
    .selectAll('webhook_deliveries')
    .select('type')
    .where('webhook_id', '=', webhookId)
    .where(before === undefined ? sql<boolean>`1 = 1` : sql<boolean>`number < ${before}`)
    .where(state === undefined ? sql<boolean>`1 = 1` : sql<boolean>`state = ${state}`)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
}
