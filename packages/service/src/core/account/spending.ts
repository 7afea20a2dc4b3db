/**
 * Spending limits of API keys (not shown in the specification; our choice). A purchase counts with its net price, the one that `max_price`
 * guards: of 30 days of a VM, of the first year of a domain, of one runtime of a dedicated server. A change of a VM counts with the
 * increase. A later end gives nothing back, so a limit bounds the purchases and not the running resources.
 */
import { sql } from 'kysely';
import * as v from 'valibot';

import { decimalOf } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import { Refusal } from '../../rules/refusal.ts';
import { spendingPeriodsOf } from '../../rules/spending.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';

/** The spending limit of the API key that sends a request. */
export interface Spender {
  readonly limitId: string;
  /** The billable operations that the key may use, or null for all. */
  readonly operations: readonly string[] | null;
}

/** The part of a limit that a purchase took. The details of its delivery store it, so that a purchase that is undone gives it back. */
export const spendingDetails = v.object({ limitId: v.string(), amount: v.number(), day: v.string(), month: v.string() });

export type Spending = v.InferOutput<typeof spendingDetails>;

/**
 * Takes the price of a purchase from the limit of its key. Must run in the transaction that holds the credit, after the hold. Conditional
 * updates ensure that concurrent purchases never exceed the limit.
 *
 * @param spender Undefined if the key has no limit.
 * @param now Milliseconds, the time of the purchase.
 * @returns Undefined if there is nothing to give back.
 * @throws Refusal 402 if the price exceeds what remains of the day or of the month.
 */
export async function spend(db: Db, spender: Spender | undefined, price: Money, now: number): Promise<Spending | undefined> {
  if (!spender || price <= 0n) return undefined;
  const { limitId } = spender;
  const { day, month } = spendingPeriodsOf(now);
  const [ofDay] = await spendOfDay(db, { limitId, period: day, price });
  if (!ofDay) throw await spendingLimitExceeded(db, { limitId, price, period: day, column: 'per_day' });
  const [ofMonth] = await spendOfMonth(db, { limitId, period: month, price });
  if (!ofMonth) throw await spendingLimitExceeded(db, { limitId, price, period: month, column: 'per_month' });
  return { limitId, amount: Number(price), day, month };
}

/** Gives back the part of a limit that an undone purchase took. */
export async function giveSpendingBack(db: Db, spending: Spending | undefined): Promise<void> {
  if (!spending) return;
  const { limitId, amount, day, month } = spending;
  await db
    .updateTable('spendings')
    .set(({ eb }) => ({ spent: eb('spent', '-', amount) }))
    .where('limit_id', '=', limitId)
    .where('period', 'in', [day, month])
    .execute();
}

/** The sums of the purchases under a limit, in the day and the month of an instant. */
export async function spentOf(db: Db, limitId: string, now: number): Promise<{ readonly day: Money; readonly month: Money }> {
  const { day, month } = spendingPeriodsOf(now);
  return { day: await spentIn(db, limitId, day), month: await spentIn(db, limitId, month) };
}

/**
 * Asserts that a key may use a billable operation.
 *
 * @throws Refusal 403 if the operation is not among those that the key may use.
 */
export function assertMayBuy(spender: Spender | undefined, operationId: string): void {
  const operations = spender?.operations ?? null;
  if (operations === null || operations.includes(operationId)) return;
  const allowed = operations.length === 0 ? 'It may use no billable operation.' : `It may use ${operations.join(', ')}.`;
  throw new Refusal(
    403,
    'operation_not_allowed',
    `The spending limit of this API key does not allow ${operationId}. ${allowed} Use another key, or ask the provider to change the limit.`,
  );
}

/** Deletes the sums that are more than a year old. @param now Milliseconds. */
export async function forgetOldSpendings(db: Db, now: number): Promise<void> {
  const date = new Date(now);
  const { month } = spendingPeriodsOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 12));
  await db.deleteFrom('spendings').where('period', '<', month).execute();
}

interface Expense {
  readonly limitId: string;
  readonly period: string;
  readonly price: Money;
}

const spendOfDay = spendWithin('per_day');
const spendOfMonth = spendWithin('per_month');

function spendWithin(column: 'per_day' | 'per_month') {
  const limit = sql.ref(`spending_limits.${column}`);
  return prepared<Expense, { period: string }>((db, parameter) =>
    db
      .insertInto('spendings')
      .columns(['limit_id', 'period', 'spent'])
      .expression(
        db
          .selectFrom('spending_limits')
          .select(['id', sql<string>`${parameter('period')}`.as('period'), sql<number>`${parameter('price')}`.as('spent')])
          .where('id', '=', parameter('limitId'))
          .where(sql<boolean>`(${limit} is null or ${limit} >= ${parameter('price')})`),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['limit_id', 'period'])
          .doUpdateSet({ spent: sql`spendings.spent + excluded.spent` })
          .where(
            sql<boolean>`not exists (
                select 1 from spending_limits where id = spendings.limit_id and ${limit} < spendings.spent + excluded.spent
              )`,
          ),
      )
      .returning('spendings.period'),
  );
}

async function spentIn(db: Db, limitId: string, period: string): Promise<Money> {
  const row = await db
    .selectFrom('spendings')
    .select('spent')
    .where('limit_id', '=', limitId)
    .where('period', '=', period)
    .executeTakeFirst();
  return BigInt(row?.spent ?? 0);
}

async function spendingLimitExceeded(
  db: Db,
  { limitId, price, period, column }: Expense & { readonly column: 'per_day' | 'per_month' },
): Promise<Refusal> {
  const row = await db.selectFrom('spending_limits').select(column).where('id', '=', limitId).executeTakeFirst();
  const limit = BigInt(row?.[column] ?? 0);
  const remaining = limit - (await spentIn(db, limitId, period));
  const when = column === 'per_day' ? `on ${period} (UTC)` : `in ${period} (UTC)`;
  return new Refusal(
    402,
    'spending_limit_exceeded',
    `This purchase counts ${decimalOf(price)} EUR, and ${decimalOf(remaining > 0n ? remaining : 0n)} EUR remain of the ${decimalOf(limit)} EUR that this API key may spend ${when}. Choose less, wait, use another key, or ask the provider for a higher limit.`,
  );
}
