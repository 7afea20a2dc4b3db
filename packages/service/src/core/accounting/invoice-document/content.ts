import { accruedBy, accruedByAll, accruedByCharge, amountOf, runtimeOf, totalOf } from '../../../rules/billing.ts';
import type { Seconds } from '../../../rules/billing.ts';
import type { Money } from '../../../rules/money.ts';
import type { Db } from '../../../store/store.ts';
import { chargesOn, positionsOn } from '../invoice.ts';
import { toBilledRuntime } from '../period-end.ts';

/** The content of an invoice document. */
export interface InvoiceContent {
  readonly number: string;
  readonly account: string;
  /** Milliseconds. */
  readonly created: number;
  readonly periodStart: Seconds;
  readonly periodEnd: Seconds;
  readonly vms: readonly VmLine[];
  readonly charges: readonly ChargeLine[];
  /** Totals of the positions of VMs and of the charges in advance, each rounded to cents. */
  readonly vmTotal: Money;
  readonly chargeTotal: Money;
  readonly total: Money;
}

/** A position of a VM on the document. */
export interface VmLine {
  readonly vmId: number;
  readonly type: string;
  readonly start: Seconds;
  readonly stop: Seconds;
  readonly runtime: Seconds;
  readonly monthlyPrice: Money;
  readonly price: Money;
}

/** A charge in advance on the document. */
export interface ChargeLine {
  readonly kind: string;
  readonly subject: string;
  readonly type: string;
  readonly start: Seconds;
  readonly stop: Seconds;
  readonly price: Money;
}

/** The content of the document of an invoice. Undefined if the invoice does not exist. */
export async function invoiceContent(db: Db, invoiceId: string): Promise<InvoiceContent | undefined> {
  const invoice = await db.selectFrom('invoices').selectAll().where('id', '=', invoiceId).executeTakeFirst();
  if (!invoice) return undefined;
  const account = await db.selectFrom('accounts').select('name').where('id', '=', invoice.account_id).executeTakeFirstOrThrow();
  const positions = await positionsOn(db, invoice);
  const charges = await chargesOn(db, invoice);
  const end = invoice.period_end;
  return {
    number: invoice.id,
    account: account.name,
    created: invoice.created,
    periodStart: invoice.period_start,
    periodEnd: end,
    vms: positions.map((row) => ({
      vmId: row.vm_id,
      type: row.type,
      start: row.start,
      stop: row.stop ?? end,
      runtime: runtimeOf(toBilledRuntime(row), end),
      monthlyPrice: BigInt(row.monthly_price),
      price: amountOf(accruedBy(toBilledRuntime(row), end)),
    })),
    charges: charges.map(({ kind, subject, type, start, stop, amount }) => ({ kind, subject, type, start, stop, price: BigInt(amount) })),
    vmTotal: totalOf(accruedByAll(positions.map(toBilledRuntime), end)),
    chargeTotal: totalOf(charges.reduce((sum, { amount }) => sum + accruedByCharge(BigInt(amount)), 0n)),
    total: BigInt(invoice.total),
  };
}
