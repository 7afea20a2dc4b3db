/** Changes through the operator API. Rows have no foreign keys, because they outlive tokens, accounts and resets. */
export interface AuditRecordsTable {
  id: string;
  /** Milliseconds, by the clock of the machine. */
  time: number;
  /** `operator`, or the ID of an operator token or a verifier. */
  actor: string;
  actor_name: string;
  address: string;
  /** The operationId. */
  operation: string;
  target: string | null;
  /** JSON without secrets: the state before and after the change. */
  state_before: string;
  state_after: string;
  request_id: string;
}
