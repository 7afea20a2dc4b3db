import type { Credit, CurrentPosition } from '@reseller/operator-client';

import { currentInvoice } from '../core/accounting/current-invoice.ts';
import type { CurrentInvoice } from '../core/accounting/current-invoice.ts';
import { settleAccount } from '../core/jobs/settle.ts';
import type { ExplainedCredit } from '../rules/credit.ts';
import { secondsToInstant } from '../rules/instants.ts';
import { decimalOf } from '../rules/money.ts';
import { inTurns } from '../store/turns.ts';
import { accountOf } from './account.ts';
import type { ServiceOperation } from './operation.ts';

/**
 * GET /accounts/{account_id}/current-invoice: runs the due jobs of the account first, so that the response never shows a period that has
 * ended.
 */
export const getAccountCurrentInvoice: ServiceOperation<'getAccountCurrentInvoice'> = {
  kind: 'service',
  async run({ path, now, runtime }) {
    const { id: accountId } = await runtime.store.read((db) => accountOf(db, path.account_id));
    await settleAccount(runtime, { accountId, now });
    const invoice = await runtime.store.readLong((db) => currentInvoice(db, accountId, Math.floor(now / 1000)));
    return {
      account_id: accountId,
      period_start: secondsToInstant(invoice.periodStart),
      period_end: secondsToInstant(invoice.periodEnd),
      total: decimalOf(invoice.total),
      estimated_total: decimalOf(invoice.estimatedTotal),
      credit_limit: decimalOf(invoice.credit.limit),
      remaining_credit: decimalOf(invoice.credit.remaining),
      credit: toCredit(invoice.credit),
      positions: await toPositions(invoice),
    };
  },
};

function toCredit({ limit, balance, unpaid, estimate, pending, remaining }: ExplainedCredit): Credit {
  return {
    limit: decimalOf(limit),
    balance: decimalOf(balance),
    unpaid: decimalOf(unpaid),
    estimate: decimalOf(estimate),
    pending: decimalOf(pending),
    remaining: decimalOf(remaining),
  };
}

async function toPositions({ vms, charges }: CurrentInvoice): Promise<CurrentPosition[]> {
  const positions: CurrentPosition[] = [];
  await inTurns(vms, ({ vmId, type, start, stop, runtime, monthlyPrice, amount }) => {
    positions.push({
      kind: 'vm',
      subject: String(vmId),
      type,
      start: secondsToInstant(start),
      stop: stop === null ? null : secondsToInstant(stop),
      runtime_seconds: runtime,
      monthly_price: decimalOf(monthlyPrice),
      total: decimalOf(amount),
    });
  });
  return [
    ...positions,
    ...charges.map(({ kind, subject, type, start, stop, amount }) => ({
      kind,
      subject,
      type,
      start: secondsToInstant(start),
      stop: secondsToInstant(stop),
      runtime_seconds: null,
      monthly_price: null,
      total: decimalOf(BigInt(amount)),
    })),
  ];
}
