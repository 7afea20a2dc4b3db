/** Requests without a valid key or token, grouped. */
export interface FailedAuthenticationsTable {
  /** Minutes since 1970 by the clock of the machine. */
  minute: number;
  /** `reseller` or `operator`. */
  api: string;
  /** An IPv4 address or an IPv6 /64, or `others` for those beyond the limit of a minute. */
  network: string;
  count: number;
}
