import type { Generated } from 'kysely';

/** Invoices and credit notes as they were issued. Only `pdf` changes, once. */
export interface IssuedDocumentsTable {
  /** The identifier of the invoice, or a UUID for a credit note. Links contain it. */
  id: string;
  account_id: string;
  invoice_id: string;
  kind: 'invoice' | 'credit_note';
  /** Name of a credit note, unique for its invoice. Null for the invoice itself. */
  name: string | null;
  /** Unique. Consecutive within its prefix. */
  number: string;
  /** Money, in whole cents: the net amount of the invoice or of the correction. */
  net: number;
  /** Money, in whole cents. */
  vat: number;
  /** JSON: an array of the rate in hundredths of a percent (`basisPoints`), its net amount (`net`) and its VAT (`vat`). */
  vat_by_rate: string;
  /** Why an invoice was corrected. Null for invoices. */
  reason: string | null;
  /** Milliseconds. */
  issued: number;
  /** Milliseconds. Null for credit notes. */
  due: number | null;
  /** JSON of `DocumentContent`: everything that the PDF shows. */
  content: string;
  /** The PDF, base64. Null until it is requested for the first time. */
  pdf: Generated<string | null>;
}
