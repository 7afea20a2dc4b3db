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
  /** Number in the chain. Null for a record of a version before the chain, like the columns below. */
  seq: number | null;
  /** Random, for `content_hash`. Empty once the content was erased. */
  salt: string | null;
  /** SHA-256 of the target and the states. */
  content_hash: string | null;
  /** SHA-256 of the other columns and the hash of the record before. */
  hash: string | null;
}
