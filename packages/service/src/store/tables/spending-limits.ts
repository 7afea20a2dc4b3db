/** The spending limits of API keys. */
export interface SpendingLimitsTable {
  id: string;
  account_id: string;
  /** Money: the net prices of the purchases of a day and of a calendar month, UTC. Null for no limit. */
  per_day: number | null;
  per_month: number | null;
  /** JSON: the billable operations that the key may use. Null for all. */
  operations: string | null;
}
