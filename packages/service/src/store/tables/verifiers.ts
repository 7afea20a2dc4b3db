/** Third parties that may verify one-time codes. */
export interface VerifiersTable {
  id: string;
  name: string;
  /** SHA-256 of its token, hexadecimal. */
  hash: string;
  /** Milliseconds. */
  created: number;
  /** Milliseconds. Null if the token was not revoked. */
  revoked: number | null;
}
