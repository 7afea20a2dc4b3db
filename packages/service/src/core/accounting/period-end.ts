/** The end of an invoice period (specification: "Invoice"; the calendar month, UTC, is our choice). */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { v5 as uuidv5 } from 'uuid';

import { accruedByAll, accruedByCharge, holdFor, periodOf, totalOf } from '../../rules/billing.ts';
import type { BilledRuntime, PriceSeconds, Seconds } from '../../rules/billing.ts';
import { statusOfNewInvoice } from '../../rules/invoice.ts';
import type { Money } from '../../rules/money.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db, Store } from '../../store/store.ts';
import type { PositionsTable } from '../../store/tables/accounting.ts';
import { tuningOf } from '../../store/tuning.ts';
import { storePendingHolds } from './credit-hold.ts';
import { MOST_UNPAID, updateBalanceCredit } from './debt.ts';
import { changePrices } from './price-change.ts';
import { storeAllHolds } from './renewal-hold.ts';

/** Namespace of the UUIDs of invoices. */
const INVOICE_NAMESPACE = 'b7d7f0f4-5a6e-4b0f-9d0c-0f8c1a1d7f5e';

/** Closes all periods of an account that have ended. Each operation that bills does so first, so no request sees an ended period as open. */
export async function closeEndedPeriods(db: Db, accountId: string, now: Seconds): Promise<void> {
  for (;;) {
    const account = await db.selectFrom('accounts').select('period_start').where('id', '=', accountId).executeTakeFirstOrThrow();
    if (periodOf(account.period_start).end > now) return;
    await closePeriod(db, accountId, account.period_start);
  }
}

/**
 * Ends the positions of a period, creates its invoice, and begins a BILLINGRESTART position for each running VM. A period without positions
 * and charges has no invoice. New prices for existing VMs take effect only here, so a price never changes within an invoice.
 */
async function closePeriod(db: Db, accountId: string, periodStart: Seconds): Promise<void> {
  const { end } = periodOf(periodStart);
  // The transaction that advances the account closes the period. On PostgreSQL, others wait here.
  const claimed = await db
    .updateTable('accounts')
    .set({ period_start: end })
    .where('id', '=', accountId)
    .where('period_start', '=', periodStart)
    .executeTakeFirst();
  if (claimed.numUpdatedRows === 0n) return;
  const invoice = { id: invoiceIdOf(accountId, periodStart), accountId, periodStart };
  const positions = await positionsToMove(db, accountId, end).selectAll().execute();
  const charges = await db
    .selectFrom('charges')
    .select(['amount'])
    .where('account_id', '=', accountId)
    .where('invoice_id', 'is', null)
    .execute();
  const moved = await movedTo(db, invoice);
  if (positions.length > 0 || charges.length > 0 || moved > 0n) await insertInvoice(db, invoice);
  await moveToInvoice(db, invoice, positions, await changePrices(db, accountId, end));
  await db
    .updateTable('charges')
    .set({ invoice_id: invoice.id })
    .where('account_id', '=', accountId)
    .where('invoice_id', 'is', null)
    .execute();
  const charged = charges.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const total = totalOf(moved + accruedByAll(positions.map(toBilledRuntime), end) + accruedByCharge(charged));
  await db
    .updateTable('invoices')
    .set({ total: Number(total), status: statusOfNewInvoice(total) })
    .where('id', '=', invoice.id)
    .execute();
  const next = periodOf(end);
  const renewals = await storeAllHolds(db, accountId, next);
  const orders = await storePendingHolds(db, accountId, next);
  const [owed, most] = [Number(total), Number(MOST_UNPAID)];
  await db
    .updateTable('accounts')
    .set((account) => ({
      unpaid: sql<number>`case when unpaid < ${most - owed} then unpaid + ${owed} else ${most} end`,
      held: account('held', '+', Number(renewals + orders - charged)),
    }))
    .where('id', '=', accountId)
    .execute();
  await updateBalanceCredit(db, accountId);
}

/**
 * Closes most of an ended period in small transactions, if the account has many positions, so that other requests run in between.
 * `closeEndedPeriods` closes the rest. Until then the invoice is `CLOSING`, which no operation shows.
 *
 * @param now Seconds.
 */
export async function closeInSteps({ commit }: Store, accountId: string, now: Seconds): Promise<void> {
  while (await commit(({ db }) => closeStep(db, accountId, now)));
}

/** Whether the account has an ended period that `closeInSteps` would make shorter. */
export async function needsSteps(db: Db, accountId: string, now: Seconds): Promise<boolean> {
  const { period_start } = await db.selectFrom('accounts').select('period_start').where('id', '=', accountId).executeTakeFirstOrThrow();
  const { end } = periodOf(period_start);
  if (end > now) return false;
  const last = await positionsToMove(db, accountId, end)
    .select('vm_id')
    .limit(1)
    .offset(tuningOf(db).periodEndStep - 1)
    .executeTakeFirst();
  return last !== undefined;
}

/** @returns Whether another step is needed. */
async function closeStep(db: Db, accountId: string, now: Seconds): Promise<boolean> {
  const { periodEndStep } = tuningOf(db);
  const periodStart = await lockAccount(db, accountId);
  const { end } = periodOf(periodStart);
  if (end > now) return false;
  const positions = await positionsToMove(db, accountId, end).selectAll().orderBy('start').limit(periodEndStep).execute();
  if (positions.length < periodEndStep) return false;
  const invoice = { id: invoiceIdOf(accountId, periodStart), accountId, periodStart };
  await insertInvoice(db, invoice);
  const ids = positions.filter(({ stop }) => stop === null).map(({ vm_id }) => vm_id);
  await moveToInvoice(db, invoice, positions, await changePrices(db, accountId, end, ids));
  return true;
}

interface NewInvoice {
  readonly id: string;
  readonly accountId: string;
  readonly periodStart: Seconds;
}

/** The ID depends only on the account and the period, not on the instance that closes it. */
function invoiceIdOf(accountId: string, periodStart: Seconds): string {
  return uuidv5(`${accountId}/${periodStart}`, INVOICE_NAMESPACE);
}

/** Positions of a period that are on no invoice yet. Those that begin at its end belong to the next one. */
function positionsToMove(db: Db, accountId: string, end: Seconds) {
  return db.selectFrom('positions').where('account_id', '=', accountId).where('invoice_id', 'is', null).where('start', '<', end);
}

/**
 * What the positions that earlier steps have moved add to the invoice. The store adds up seconds only: a price times seconds may exceed its
 * 64 bits.
 */
async function movedTo(db: Db, { id, accountId }: NewInvoice): Promise<PriceSeconds> {
  const byPrice = await db
    .selectFrom('positions')
    .select(['monthly_price', sql<Seconds>`sum(stop - start)`.as('seconds')])
    .where('account_id', '=', accountId)
    .where('invoice_id', '=', id)
    .groupBy('monthly_price')
    .execute();
  return byPrice.reduce((sum, { monthly_price, seconds }) => sum + BigInt(monthly_price) * BigInt(seconds), 0n);
}

/** Inserts the invoice without its total, unless an earlier step has inserted it. */
async function insertInvoice(db: Db, { id, accountId, periodStart }: NewInvoice): Promise<void> {
  const { end } = periodOf(periodStart);
  await db
    .insertInto('invoices')
    .values({
      id,
      account_id: accountId,
      created: end * 1000,
      period_start: periodStart,
      period_end: end,
      total: 0,
      status: 'CLOSING',
      number: null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Ends the positions, moves them to the invoice, and begins the positions of the next period with their holds. */
async function moveToInvoice(
  db: Db,
  { id, accountId, periodStart }: NewInvoice,
  positions: readonly Selectable<PositionsTable>[],
  changed: ReadonlyMap<number, Money>,
): Promise<void> {
  const { statementRows } = tuningOf(db);
  const { end } = periodOf(periodStart);
  const nextEnd = periodOf(end).end;
  const restarted = positions
    .filter(({ stop }) => stop === null)
    .map((position) => {
      const monthlyPrice = changed.get(position.vm_id) ?? BigInt(position.monthly_price);
      const hold = holdFor({ start: end, stop: null, monthlyPrice }, nextEnd);
      return {
        ...position,
        monthly_price: Number(monthlyPrice),
        number: position.number + 1,
        invoice_id: null,
        type: 'BILLINGRESTART',
        start: end,
        stop: null,
        hold: Number(hold),
      };
    });
  for (let from = 0; from < positions.length; from += statementRows) {
    const keys = positions
      .slice(from, from + statementRows)
      .map(({ vm_id, number }) => sql`(cast(${vm_id} as bigint), cast(${number} as bigint))`);
    await db
      .updateTable('positions')
      .set({ stop: sql<Seconds>`coalesce(stop, ${end})`, invoice_id: id })
      .where(sql<boolean>`(vm_id, number) in (values ${sql.join(keys)})`)
      .execute();
  }
  for (let from = 0; from < restarted.length; from += statementRows) {
    await db
      .insertInto('positions')
      .values(restarted.slice(from, from + statementRows))
      .execute();
  }
  await db
    .updateTable('accounts')
    .set((account) => ({ held: account('held', '+', sumOfHolds(restarted) - sumOfHolds(positions)) }))
    .where('id', '=', accountId)
    .execute();
}

function sumOfHolds(positions: readonly { hold: number }[]): number {
  return positions.reduce((sum, { hold }) => sum + hold, 0);
}

/** Converts a stored position to the input of the rules. */
export function toBilledRuntime(row: { start: number; stop: number | null; monthly_price: number }): BilledRuntime {
  return { start: row.start, stop: row.stop, monthlyPrice: BigInt(row.monthly_price) };
}
