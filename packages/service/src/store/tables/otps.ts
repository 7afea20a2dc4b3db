/** One-time codes. An account has at most one, because a newer code voids the older one. */
export interface OtpsTable {
  account_id: string;
  /** HMAC of the code with the service's secret. No two accounts have the same. */
  hash: string;
  /** Milliseconds. */
  expires: number;
  used: number;
}
