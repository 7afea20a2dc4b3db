import type { Generated } from 'kysely';

/** Amounts that are charged once, in advance, for a period of time. */
export interface ChargesTable {
  id: string;
  account_id: string;
  /** Null while the period is open. */
  invoice_id: string | null;
  /** `dedicated` or `domain`. */
  kind: string;
  /** The identifier of the server, or the name of the domain. */
  subject: string;
  /** `CREATE`, `RENEW` or `TRANSFER`. */
  type: string;
  /** Seconds. */
  start: number;
  stop: number;
  /** Money. */
  amount: number;
  /** Milliseconds. */
  created: number;
}

/** The logos that documents show. */
export interface LogosTable {
  /** SHA-256 in hexadecimal. */
  hash: string;
  /** Base64. */
  image: string;
}

/** The series from which documents get their numbers. A kind without a row uses its default. */
export interface DocumentSeriesTable {
  kind: 'invoice' | 'credit_note';
  prefix: string;
  next_number: number;
  digits: number;
}

export interface InvoicesTable {
  id: string;
  account_id: string;
  /** Milliseconds. */
  created: number;
  /** Seconds. */
  period_start: number;
  period_end: number;
  /** Money, in whole cents. */
  total: number;
  /** `OPEN`, `PAID` or `CANCELED`. */
  status: string;
  /** Money: the net total of its credit notes. */
  credited: Generated<number>;
  /** Money with VAT: the amount that payments have paid. */
  paid: Generated<number>;
  /** Consecutive number of its document. Null until the document is issued. */
  number: string | null;
}

/** Invoices and credit notes as they were issued. Only `pdf` or `pdf_parts` changes, once. */
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
  /** The PDF, base64. Null until it is requested for the first time, and if it is in parts. */
  pdf: Generated<string | null>;
  /** The number of parts of a long PDF, once all of them are stored. */
  pdf_parts: Generated<number | null>;
}

/** The parts of long PDFs. */
export interface DocumentPartsTable {
  document_id: string;
  /** From 0. */
  number: number;
  account_id: string;
  /** Base64. */
  pdf: string;
}

/** The part of a payment that pays an invoice, or that was refunded. */
export interface PaymentUsesTable {
  payment_id: string;
  /** An invoice, or the ID of a refund. */
  used_for: string;
  kind: 'invoice' | 'refund';
  /** Money with VAT, in whole cents, more than 0. */
  amount: number;
}

/** Money that an account paid, and money that was paid back to it. */
export interface PaymentsTable {
  id: string;
  account_id: string;
  kind: 'payment' | 'refund';
  /** Chosen by the operator, unique for the account. */
  name: string;
  /** Money with VAT, in whole cents. */
  amount: number;
  /** Such as `2024-11-04`. */
  date: string;
  method: string;
  reference: string;
  /** The invoice that the operator wanted to be paid first. */
  invoice_id: string | null;
  /** Money: the part of a payment that pays no invoice and was not refunded. 0 for a refund. */
  unused: number;
  /** Milliseconds. */
  created: number;
  reversed: number | null;
  reversal_reason: string | null;
}

/** The billed runtimes of VMs. A position outlives the row of its VM. */
export interface PositionsTable {
  /** Identifiers are reused: each VM that had this one began with a `CREATE` position. */
  vm_id: number;
  /** 1, 2, 3, … for each identifier. */
  number: number;
  account_id: string;
  /** Null while the period is open. */
  invoice_id: string | null;
  /** `CREATE`, `BILLINGRESTART` or `UP-DOWNGRADE`. */
  type: string;
  /** Seconds. */
  start: number;
  /** Seconds. Null while it runs. */
  stop: number | null;
  /** Money. */
  monthly_price: number;
  /** Money: its hold on the credit limit. */
  hold: number;
  /** The VM as it was when the position began, for the invoice. */
  hostname: string;
  hostsystem: string;
  cores: number;
  /** MB. */
  mem: number;
  /** GB. */
  disk: number;
  /** GB of HDD. Null if none was ordered. */
  storage: number | null;
  ips: number;
  backup_slots: number;
  /** Mbit. */
  network_speed: number;
}
