export interface RequestLogTable {
  account_id: string;
  /** 1, 2, 3, … without a gap for each account. */
  number: number;
  request_id: string;
  /** Milliseconds. */
  date: number;
  /** 1 or 0. */
  success: number;
  endpoint: string;
  method: string;
  request_body: string;
  error_type: string | null;
  response_body: string;
}
