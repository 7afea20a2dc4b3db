/** What was spent of a limit. */
export interface SpendingsTable {
  limit_id: string;
  /** A day as 2026-11-23, or a calendar month as 2026-11, UTC. */
  period: string;
  /** Money. */
  spent: number;
}
