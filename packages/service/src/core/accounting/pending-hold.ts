/**
 * Credit that orders hold while they are delivered. An order holds its cost in the period in which it is reserved. If the period ends during
 * the delivery, the order holds what it can cost in the next one, like everything that runs.
 */
import type { Selectable } from 'kysely';

import { holdFor, periodOf } from '../../rules/billing.ts';
import type { Period, Seconds } from '../../rules/billing.ts';
import type { Money } from '../../rules/money.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import type { ReservationsTable } from '../../store/tables/reservations.ts';

/** The part of the details of a reservation that says what it holds. */
interface HoldDetails {
  /** Until the end of the period of the order. Missing if it holds nothing. */
  readonly hold?: number;
  /** The net price of 30 days that the order adds. Missing if the hold does not depend on the period. */
  readonly monthly?: number;
}

function holdDetailsOf(details: string): HoldDetails {
  return JSON.parse(details);
}

/** The instant from which an order holds its cost. A request may have arrived before the end of a period, and be carried out after it. */
export function heldFrom(ordered: Seconds, now: Seconds): Seconds {
  return Math.max(ordered, periodOf(now).start);
}

/** What an order in delivery holds now. */
export function heldByOrder({ details, extra_hold }: Pick<Selectable<ReservationsTable>, 'details' | 'extra_hold'>): Money {
  return BigInt(holdDetailsOf(details).hold ?? 0) + BigInt(extra_hold);
}

/** What all orders of an account in delivery hold. */
export async function heldByOrders(db: Db, accountId: string): Promise<Money> {
  const orders = await db.selectFrom('reservations').select(['details', 'extra_hold']).where('account_id', '=', accountId).execute();
  const { servers } = await db
    .selectFrom('dedicated_servers')
    .select(({ fn }) => fn.sum<number | null>('hold').as('servers'))
    .where('account_id', '=', accountId)
    .where('state', '=', 'ordered')
    .executeTakeFirstOrThrow();
  return orders.reduce((sum, order) => sum + heldByOrder(order), BigInt(servers ?? 0));
}

/**
 * Holds the orders in delivery for a period that begins. The transaction must have locked the account.
 *
 * @returns The change of the hold of the account.
 */
export async function storePendingHolds(db: Db, accountId: string, { start, end }: Period): Promise<Money> {
  let change = 0n;
  for (const { id, details, extra_hold } of await ordersOf(db, { accountId })) {
    const { hold = 0, monthly } = holdDetailsOf(details);
    if (monthly === undefined) continue;
    const extra = holdFor({ start, stop: null, monthlyPrice: BigInt(monthly) }, end) - BigInt(hold);
    await db
      .updateTable('reservations')
      .set({ extra_hold: Number(extra) })
      .where('id', '=', id)
      .execute();
    change += extra - BigInt(extra_hold);
  }
  return change;
}

/** Skips an order that is being confirmed, whose transaction waits for the account and then begins its position in the new period. */
const ordersOf = prepared<{ accountId: string }, Pick<Selectable<ReservationsTable>, 'id' | 'details' | 'extra_hold'>>(
  (db, parameter, claim) =>
    claim(
      db.selectFrom('reservations').select(['id', 'details', 'extra_hold']).where('account_id', '=', parameter('accountId')),
      'reservations',
      'skip',
    ),
);
