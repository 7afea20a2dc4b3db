/** One row: the secret and the mode that every service on the store must have. */
export interface IdentityTable {
  id: 1;
  /** HMAC with the service's secret. */
  secret_verifier: string;
  /** `sandbox` or `live`. */
  mode: string;
}
