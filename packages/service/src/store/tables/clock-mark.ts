/** One row: the newest time at which an embedded store was in use. Empty if instances share the store. */
export interface ClockMarkTable {
  id: 1;
  /** Milliseconds by the clock of the machine. */
  newest: number;
}
