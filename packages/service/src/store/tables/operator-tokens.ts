/** Tokens of the provider's team for the operator API. Their times follow the clock of the machine, also in a sandbox. */
export interface OperatorTokensTable {
  id: string;
  /** Name of its holder. */
  name: string;
  /** SHA-256 of the token, hexadecimal. */
  hash: string;
  /** JSON: the scopes. */
  scopes: string;
  /** Milliseconds. */
  created: number;
  /** Milliseconds. Null if it does not expire. */
  valid_until: number | null;
  /** Milliseconds. Null if it was not revoked. */
  revoked: number | null;
  /** The token with which it was created. Null if a version without this column stored it. */
  created_by: string | null;
}
