import type { CurrentVmPosition } from '@reseller/client';

import { isoInstant, accruedBy, accruedByAll, amountOf, periodOf, runtimeOf, totalOf } from '../../rules/billing.ts';
import { remainingCredit } from '../../rules/credit.ts';
import { numberOf } from '../../rules/money.ts';
import type { ReadOperation } from '../operation.ts';
import { openCharges } from '../../core/accounting/charge.ts';

import { toBilledRuntime } from '../../core/accounting/period-end.ts';

/** GET /accounting/invoices/current: the total of the current period so far, and the expected total at its end. */
export const getCurrentInvoice: ReadOperation<'getCurrentInvoice'> = {
  kind: 'read',
  settles: true,
  async run(db, call) {
    const { accountId } = call;
    const instant = Math.floor(call.now / 1000);
    const account = await db
      .selectFrom('accounts')
      .select(['credit_limit', 'unpaid', 'held', 'period_start'])
      .where('id', '=', accountId)
      .executeTakeFirstOrThrow();
    const rows = await db
      .selectFrom('positions')
      .select(['vm_id', 'type', 'start', 'stop', 'monthly_price'])
      .where('account_id', '=', accountId)
      .where('invoice_id', 'is', null)
      .orderBy('vm_id')
      .orderBy('number')
      .execute();
    const charges = await openCharges(db, accountId);
    // Not the period of `now`: a request that arrives late may find that it has ended since.
    const { end } = periodOf(account.period_start);
    const positions = rows.map(toBilledRuntime);
    const total = totalOf(accruedByAll(positions, instant) + charges.accrued);
    const limit = BigInt(account.credit_limit);
    const vms: Record<string, CurrentVmPosition[]> = {};
    for (const row of rows) {
      (vms[row.vm_id] ??= []).push({
        type: row.type,
        start: isoInstant(row.start),
        stop: row.stop === null ? null : isoInstant(row.stop),
        totalRuntime: runtimeOf(toBilledRuntime(row), instant),
        monthlyPrice: numberOf(BigInt(row.monthly_price)),
        totalPrice: numberOf(amountOf(accruedBy(toBilledRuntime(row), instant))),
      });
    }
    return {
      message: 'The invoice of the current period.',
      data: {
        currentInvoiceTotal: numberOf(total),
        nextInvoiceDate: isoInstant(end),
        estimatedInvoiceTotal: numberOf(totalOf(accruedByAll(positions, end) + charges.accrued)),
        creditLimit: numberOf(limit),
        creditLimitRemaining: numberOf(remainingCredit({ limit, unpaid: BigInt(account.unpaid), held: BigInt(account.held) })),
        positions: { vms, ...charges.positions },
      },
    };
  },
};
