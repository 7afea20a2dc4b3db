/**
 * Responses that an account received repeatedly within a month. They are deleted with the entries of their month, or when the size limit of the
 * log has deleted all entries that refer to them.
 */
export interface RequestLogBodiesTable {
  /** The month of the entries, such as 202611. */
  month: number;
  account_id: string;
  hash: string;
  /** The response with an empty requestID. */
  body: string;
  /** Characters of the body. Null if a version without this column stored it. */
  size: number | null;
  /** When the account last received it, in milliseconds, at most REFRESH_MS too early. Null if a version without this column stored it. */
  stored: number | null;
}
