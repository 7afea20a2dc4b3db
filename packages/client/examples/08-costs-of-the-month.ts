/** Prints what the account owes so far, and which invoices are open. */
import { createReseller } from '@reseller/client';

const reseller = createReseller({ environment: 'sandbox' });

const current = await reseller.accounting.currentInvoice();
console.log('so far', current.currentInvoiceTotal, 'EUR, credit left', current.creditLimitRemaining, 'EUR');
for (const [vm, positions] of Object.entries(current.positions.vms)) {
  console.log('VM', vm, positions.map(({ type, start }) => `${type} since ${start}`).join(', '));
}
for (const { invoiceID, total, status, created } of await reseller.accounting.invoices()) {
  if (status === 'OPEN') console.log(invoiceID, 'of', created, 'is open:', total, 'EUR');
}
