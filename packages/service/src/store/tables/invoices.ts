import type { Generated } from 'kysely';

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
