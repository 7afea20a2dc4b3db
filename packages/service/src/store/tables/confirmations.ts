/** Requests of an operator that wait for the same request of a second one. */
export interface ConfirmationsTable {
  /** The operationId. */
  operation: string;
  target: string;
  /** Who sent the first request. */
  actor: string;
  /** Milliseconds by the clock of the machine. */
  requested: number;
}
