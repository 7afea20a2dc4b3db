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
