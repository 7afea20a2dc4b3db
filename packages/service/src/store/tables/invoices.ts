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
}
