/** Responses that an account received repeatedly within a month. They are deleted with the entries of their month. */
export interface RequestLogBodiesTable {
  /** The month of the entries, such as 202611. */
  month: number;
  account_id: string;
  hash: string;
  /** The response with an empty requestID. */
  body: string;
}
