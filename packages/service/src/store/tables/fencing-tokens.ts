/**
 * The newest fencing token of each subject. Tokens never decrease, because systems outside the store remember them. So no row is
 * deleted, and snapshots do not contain this table.
 */
export interface FencingTokensTable {
  /** Like `vm/48213` or `domain/example.net`. */
  subject: string;
  token: number;
}
