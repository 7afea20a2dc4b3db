import type { CurrentVmPosition } from '@reseller/client';

import { toChargePositions } from '../../core/accounting/charge.ts';
import { currentInvoice } from '../../core/accounting/current-invoice.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import { numberOf } from '../../rules/money.ts';
import { inTurns } from '../../store/turns.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /accounting/invoices/current: the total of the current period so far, and the expected total at its end. */
export const getCurrentInvoice: ReadOperation<'getCurrentInvoice'> = {
  kind: 'read',
  settles: true,
  isLong: true,
  async run(db, { accountId, now }) {
    const invoice = await currentInvoice(db, accountId, Math.floor(now / 1000));
    const vms: Record<string, CurrentVmPosition[]> = {};
    await inTurns(invoice.vms, (position) => {
      (vms[position.vmId] ??= []).push({
        type: position.type,
        start: secondsToInstant(position.start),
        stop: position.stop === null ? null : secondsToInstant(position.stop),
        totalRuntime: position.runtime,
        monthlyPrice: numberOf(position.monthlyPrice),
        totalPrice: numberOf(position.amount),
      });
    });
    return {
      message: 'The invoice of the current period.',
      data: {
        currentInvoiceTotal: numberOf(invoice.total),
        nextInvoiceDate: secondsToInstant(invoice.periodEnd),
        estimatedInvoiceTotal: numberOf(invoice.estimatedTotal),
        creditLimit: numberOf(invoice.credit.limit),
        creditLimitRemaining: numberOf(invoice.credit.remaining),
        positions: { vms, ...toChargePositions(invoice.charges).positions },
      },
    };
  },
};
