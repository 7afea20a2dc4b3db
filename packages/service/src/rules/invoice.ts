/** The states of an invoice (specification: "Invoice"; its transitions are not shown, they are our choice). */

export type InvoiceStatus = 'OPEN' | 'PAID' | 'CANCELED';
export type InvoiceEvent = 'pay' | 'cancel';

const after: Readonly<Record<InvoiceEvent, InvoiceStatus>> = { pay: 'PAID', cancel: 'CANCELED' };

/**
 * The status of an invoice after an event. Undefined if the status does not allow the event. Only an open invoice changes: a
 * paid one is corrected by a credit note.
 */
export function invoiceAfter(status: string, event: InvoiceEvent): InvoiceStatus | undefined {
  return status === 'OPEN' ? after[event] : undefined;
}

/** The status of a new invoice. A total of 0 needs no payment. */
export function statusOfNewInvoice(total: bigint): InvoiceStatus {
  return total === 0n ? 'PAID' : 'OPEN';
}
