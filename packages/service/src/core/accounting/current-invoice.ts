import type { Selectable } from 'kysely';

import { accruedBy, accruedByCharge, amountOf, periodOf, runtimeOf, totalOf } from '../../rules/billing.ts';
import type { Seconds } from '../../rules/billing.ts';
import type { ExplainedCredit } from '../../rules/credit.ts';
import type { Money } from '../../rules/money.ts';
import type { Db } from '../../store/store.ts';
import type { ChargesTable } from '../../store/tables/accounting.ts';
import { tuningOf } from '../../store/tuning.ts';
import { inTurns } from '../../store/turns.ts';
import { openCharges } from './charge.ts';
import { creditOf } from './credit-hold.ts';
import { toBilledRuntime } from './period-end.ts';
import { heldByRenewals } from './renewal-hold.ts';

/** A period in which a VM ran at one price. */
export interface RunningPosition {
  readonly vmId: number;
  readonly type: string;
  readonly start: Seconds;
  readonly stop: Seconds | null;
  readonly monthlyPrice: Money;
  /** Seconds so far. */
  readonly runtime: number;
  /** The price of the runtime so far. */
  readonly amount: Money;
}

/** The invoice of the current period so far, and the remaining credit. */
export interface CurrentInvoice {
  readonly periodStart: Seconds;
  readonly periodEnd: Seconds;
  readonly total: Money;
  /** The total at the end of the period if everything that runs now keeps running, and everything that is not cancelled is renewed. */
  readonly estimatedTotal: Money;
  readonly credit: ExplainedCredit;
  readonly vms: readonly RunningPosition[];
  readonly charges: readonly Selectable<ChargesTable>[];
}

/** Reads the current invoice of an account whose due jobs are done (`settleAccount`). */
export async function currentInvoice(db: Db, accountId: string, instant: Seconds): Promise<CurrentInvoice> {
  const account = await db.selectFrom('accounts').select('period_start').where('id', '=', accountId).executeTakeFirstOrThrow();
  const { rows: charges, accrued } = await openCharges(db, accountId);
  const renewals = accruedByCharge(await heldByRenewals(db, accountId));
  const rows = db
    .selectFrom('positions')
    .select(['vm_id', 'type', 'start', 'stop', 'monthly_price'])
    .where('account_id', '=', accountId)
    .where('invoice_id', 'is', null)
    .orderBy('vm_id')
    .orderBy('number');
  // The open period, because the period of `instant` may have ended before a late request is processed.
  const { start, end } = periodOf(account.period_start);
  const vms: RunningPosition[] = [];
  let soFar = 0n;
  let atEnd = 0n;
  await inTurns(rows.stream(tuningOf(db).streamedRows), (row) => {
    const billed = toBilledRuntime(row);
    const cost = accruedBy(billed, instant);
    soFar += cost;
    atEnd += accruedBy(billed, end);
    vms.push({
      vmId: row.vm_id,
      type: row.type,
      start: row.start,
      stop: row.stop,
      monthlyPrice: billed.monthlyPrice,
      runtime: runtimeOf(billed, instant),
      amount: amountOf(cost),
    });
  });
  return {
    periodStart: start,
    periodEnd: end,
    total: totalOf(soFar + accrued),
    estimatedTotal: totalOf(atEnd + accrued + renewals),
    credit: await creditOf(db, accountId),
    vms,
    charges,
  };
}
