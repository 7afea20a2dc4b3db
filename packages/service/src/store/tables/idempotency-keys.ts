export interface IdempotencyKeysTable {
  account_id: string;
  /** SHA-256 of the caller's key, hexadecimal. */
  key_hash: string;
  /** SHA-256 of method, path and form. */
  fingerprint: string;
  /** `pending` or `done`. */
  state: string;
  /** The body of the response, encrypted with the secret of the service. Null while pending. */
  response: string | null;
  /** Milliseconds. */
  created: number;
}
