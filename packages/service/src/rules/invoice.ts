/** The states of an invoice (specification: "Invoice"; its transitions are not shown, they are our choice). */

export type InvoiceStatus = 'OPEN' | 'PAID' | 'CANCELED';
export type InvoiceEvent = 'pay' | 'cancel';

const after: Readonly<Record<InvoiceEvent, InvoiceStatus>> = { pay: 'PAID', cancel: 'CANCELED' };

/**
 * The status that an event brings an invoice to; undefined where it is not possible. Only an open
 * invoice changes: what was paid is not paid again, and what was paid or cancelled is not
 * cancelled, since money that has come in needs a credit note, which this interface does not have.
 */
export function invoiceAfter(status: string, event: InvoiceEvent): InvoiceStatus | undefined {
  return status === 'OPEN' ? after[event] : undefined;
}

/** The status of an invoice when it is made: one over nothing needs no payment. */
export function statusOfNewInvoice(total: bigint): InvoiceStatus {
  return total === 0n ? 'PAID' : 'OPEN';
}
