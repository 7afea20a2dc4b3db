/** The ends of the chain of audit records. No row before the first record, then one. */
export interface AuditChainTable {
  /** 1. */
  id: number;
  /** Number and hash of the newest record. */
  seq: number;
  hash: string;
  /** Number and hash of the newest record that the retention deleted. */
  deleted_seq: number;
  deleted_hash: string;
}
