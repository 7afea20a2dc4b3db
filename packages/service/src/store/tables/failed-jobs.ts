/** The jobs that failed, until they succeed. An account has at most one of each kind of work. */
export interface FailedJobsTable {
  account_id: string;
  /** `job` or `document`, which wait separately. */
  work: string;
  /** The kind of the job, such as `period_end`. */
  kind: string;
  /** Identifies the subject of the job: an account, a server, a domain or an invoice. */
  subject: string;
  /** When the job was due, in seconds. */
  due: number;
  reason: string;
  attempts: number;
  /** Milliseconds. */
  last_attempt: number;
  /** Milliseconds. */
  next_attempt: number;
}
