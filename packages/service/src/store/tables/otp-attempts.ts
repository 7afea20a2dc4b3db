/** Failed attempts of a third party or an operator to verify the code of an account. */
export interface OtpAttemptsTable {
  /** The ID of the third party or of the operator token. */
  verifier_id: string;
  /** The account that the request named, which need not exist. Empty if it named none. */
  account_id: string;
  /** Milliseconds: the first of the failures that are counted. */
  since: number;
  failed: number;
}
