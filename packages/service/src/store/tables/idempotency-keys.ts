export interface IdempotencyKeysTable {
  account_id: string;
  /** SHA-256 of the caller's key, hexadecimal. */
  key_hash: string;
  /** SHA-256 of method, path and form. */
  fingerprint: string;
  /** `pending` or `done`. */
  state: string;
  /** The body of the response, encrypted with a key derived from the caller's API key. Null while pending. */
  response: string | null;
  /** Milliseconds. */
  created: number;
}
