/** Sentences of a document. */
import { leftToPay } from './content.ts';
import type { DocumentContent } from './content.ts';

export const REVERSE_CHARGE = 'Reverse charge: the recipient owes the VAT (Article 196 of Council Directive 2006/112/EC).';

export function creditNote({ gross, corrects }: DocumentContent): string {
  return `We credit ${gross} EUR for invoice ${corrects?.number ?? ''}, which stays as it is. The amount is set off against the amount left to pay of the invoice. The rest pays your next invoices.`;
}

export function paymentNote(content: DocumentContent): string {
  const { due, seller, number } = content;
  return `Please transfer ${leftToPay(content)} EUR by ${due} to ${seller.iban} (${seller.bank_name}) with the reference ${number}.`;
}
