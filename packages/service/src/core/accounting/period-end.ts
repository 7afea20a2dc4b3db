/** The end of an invoice period (specification: "Invoice"; the calendar month, UTC, is our choice). */
import { v5 as uuidv5 } from 'uuid';

import { accruedByAll, accruedByCharge, holdFor, periodOf, totalOf } from '../../rules/billing.ts';
import type { BilledRuntime, Seconds } from '../../rules/billing.ts';
import { statusOfNewInvoice } from '../../rules/invoice.ts';
import type { Db } from '../../store/store.ts';
import { changePrices } from './price-change.ts';
import { storeAllHolds } from './renewal-hold.ts';

/** Namespace of the UUIDs of invoices. */
const INVOICE_NAMESPACE = 'b7d7f0f4-5a6e-4b0f-9d0c-0f8c1a1d7f5e';

/** Positions of one statement. SQLite allows 32,766 parameters, and PostgreSQL 65,535. */
const BATCH_SIZE = 500;

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
  const positions = await db
    .selectFrom('positions')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('invoice_id', 'is', null)
    .orderBy('vm_id')
    .orderBy('number')
    .execute();
  const charges = await db
    .selectFrom('charges')
    .select(['amount'])
    .where('account_id', '=', accountId)
    .where('invoice_id', 'is', null)
    .execute();
  const charged = charges.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const total = totalOf(accruedByAll(positions.map(toBilledRuntime), end) + accruedByCharge(charged));
  const running = positions.filter(({ stop }) => stop === null);
  const nextEnd = periodOf(end).end;
  const changed = await changePrices(db, accountId, end);
  const restarted = running.map((position) => {
    const monthlyPrice = changed.get(position.vm_id) ?? BigInt(position.monthly_price);
    const restart = { start: end, stop: null, monthlyPrice };
    return {
      ...position,
      monthly_price: Number(monthlyPrice),
      number: position.number + 1,
      invoice_id: null,
      type: 'BILLINGRESTART',
      start: end,
      stop: null,
      hold: Number(holdFor(restart, nextEnd)),
    };
  });
  if (positions.length > 0 || charges.length > 0) {
    // The ID depends only on the account and the period, not on the instance that closes it.
    const id = uuidv5(`${accountId}/${periodStart}`, INVOICE_NAMESPACE);
    await db
      .insertInto('invoices')
      .values({
        id,
        account_id: accountId,
        created: end * 1000,
        period_start: periodStart,
        period_end: end,
        total: Number(total),
        status: statusOfNewInvoice(total),
        number: null,
      })
      .execute();
    await db
      .updateTable('positions')
      .set({ stop: end })
      .where('account_id', '=', accountId)
      .where('invoice_id', 'is', null)
      .where('stop', 'is', null)
      .execute();
    await db.updateTable('positions').set({ invoice_id: id }).where('account_id', '=', accountId).where('invoice_id', 'is', null).execute();
    await db.updateTable('charges').set({ invoice_id: id }).where('account_id', '=', accountId).where('invoice_id', 'is', null).execute();
    for (let from = 0; from < restarted.length; from += BATCH_SIZE) {
      await db
        .insertInto('positions')
        .values(restarted.slice(from, from + BATCH_SIZE))
        .execute();
    }
  }
  const renewals = await storeAllHolds(db, accountId, nextEnd);
  await db
    .updateTable('accounts')
    .set((account) => ({
      unpaid: account('unpaid', '+', Number(total)),
      // The holds of reservations stay.
      held: account('held', '+', sumOfHolds(restarted) - sumOfHolds(positions) - Number(charged) + Number(renewals)),
    }))
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
