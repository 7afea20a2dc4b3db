/**
 * The request log. An entry has no foreign key to its account, because checking one would lock the account's row for each request.
 * PostgreSQL has a partition for each month.
 */
export interface RequestLogTable {
  account_id: string;
  /** 1, 2, 3, … without a gap for each account, in the order of commits. Retention deletes the lowest numbers. */
  number: number;
  /** Bytes of the account's entries up to and including this one. It continues when older entries are deleted. */
  position: number;
  /** The month of `date` (UTC), such as 202611. */
  month: number;
  request_id: string;
  /** Milliseconds. */
  date: number;
  /** 1 or 0. */
  success: number;
  endpoint: string;
  method: string;
  request_body: string;
  error_type: string | null;
  /** Null if the response is in `request_log_bodies`. */
  response_body: string | null;
  /** The hash of the response in `request_log_bodies`, or null. */
  response_hash: string | null;
}
