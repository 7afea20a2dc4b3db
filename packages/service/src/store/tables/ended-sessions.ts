/** Sessions of the console whose holders have signed out, until they would have ended by themselves. */
export interface EndedSessionsTable {
  /** SHA-256 of the signed text in the cookie. */
  hash: string;
  /** Milliseconds. */
  ends: number;
}
