/** Errors that a user can act on, and the exit codes of the program. */

/** Exit codes. Scripts rely on them: a code never gets another meaning. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  invalid: 3,
  forbidden: 4,
  notFound: 5,
  tooExpensive: 6,
  conflict: 7,
  unavailable: 8,
  unknown: 9,
  notConfirmed: 10,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'Done.',
  failed: 'The program failed, or the response is not from this API.',
  usage: 'The command line or its input is wrong. Nothing was sent.',
  invalid: 'The service refused the input.',
  forbidden: 'The key or token is missing, unknown, or may not do this.',
  notFound: 'The account has nothing with this identifier.',
  tooExpensive: 'The purchase exceeds the credit limit, its price rose since it was shown, or --yes would buy at an unknown price.',
  conflict: 'The state of the resource does not allow it.',
  unavailable: 'The service has a fault, is busy, or did not respond. Try again later.',
  unknown: 'The response was lost, and the request may have been carried out. Run the same command again: it never buys twice.',
  notConfirmed: 'The user did not confirm. Nothing was sent.',
};

/** The exit codes with their meanings, for the manual page and the README. */
export function exitCodes(): readonly (readonly [code: number, meaning: string])[] {
  return (Object.keys(EXIT) as (keyof typeof EXIT)[]).map((name) => [EXIT[name], EXIT_MEANINGS[name]]);
}

/** A failure whose message tells the user the cause, the expectation and the next step. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.usage, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** The failure of another program that a command ran. That program has said why. */
export class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`The program ended with ${exitCode}.`);
    this.exitCode = exitCode;
  }
}
