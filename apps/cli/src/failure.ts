/** Errors that a user can act on, and the exit codes of the program. */

/** Exit codes. Scripts rely on them: a code never gets another meaning. The README has the list. */
export const EXIT = {
  done: 0,
  /** The program failed, or the response is not from this API. */
  failed: 1,
  /** The command line or its input is wrong. Nothing was sent. */
  usage: 2,
  /** The service refused the input: status 400, 413, 415 or 422. */
  invalid: 3,
  /** The key or token is missing, unknown or may not do this: status 401 or 403. */
  forbidden: 4,
  /** Status 404. */
  notFound: 5,
  /** The purchase exceeds the credit limit, or costs more than allowed: status 402 or 412. */
  tooExpensive: 6,
  /** Status 409. */
  conflict: 7,
  /** The service has a fault or is busy, or did not respond: status 429 or 5xx. Try again later. */
  unavailable: 8,
  /** The response was lost, and the request may have been carried out. Run the same command again. */
  unknown: 9,
  /** The user did not confirm. Nothing was sent. */
  notConfirmed: 10,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure whose message tells the user the cause, the expectation and the next step. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.usage, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}
