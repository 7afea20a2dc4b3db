/** The sums of the purchases of a day or a month under a spending limit. */
export interface SpendingsTable {
  limit_id: string;
  /** A day as 2026-11-23, or a calendar month as 2026-11, UTC. */
  period: string;
  /** Money. */
  spent: number;
}
