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
  /** HTTP status. Null, like the columns below, if a version without this column stored the entry. */
  status: number | null;
  /** Milliseconds until the response was ready. */
  duration: number | null;
  /** The API key that sent the request. */
  key_id: string | null;
  /** The Idempotency-Key as it was sent, or null. */
  idempotency_key: string | null;
  /** 1 if the response is that of an earlier request with the same Idempotency-Key, or 0. */
  is_replay: number | null;
  /** JSON of `Bought`, or null. */
  bought: string | null;
  /** The place of the entry among those of all accounts. It rises in the order in which entries can be read, and has gaps. */
  feed: number | null;
}
