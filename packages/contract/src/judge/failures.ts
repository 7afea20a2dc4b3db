import { errorText } from '../is-error.ts';

/** An error of this program, or of a hook, after the first request. What else the run found is reported all the same. */
export interface Failure {
  readonly error: string;
  /** The part that failed first with this error, such as a check of an operation. */
  readonly where: string;
  readonly times: number;
}

/** Collects the errors of a run. Equal ones are counted, because one mistake can fail on each response. */
export interface Failures {
  add(where: string, error: unknown): void;
  /** Runs a part of the work. Returns the other value when it fails. */
  attempt<Result>(where: string, work: () => Result, otherwise: Result): Result;
  list(): readonly Failure[];
}

export function createFailures(): Failures {
  const found = new Map<string, Failure>();
  function countFailure(where: string, thrown: unknown): void {
    const error = errorText(thrown);
    const known = found.get(error) ?? { error, where, times: 0 };
    found.set(error, { ...known, times: known.times + 1 });
  }
  return {
    add: countFailure,
    attempt(where, work, otherwise) {
      try {
        return work();
      } catch (error) {
        countFailure(where, error);
        return otherwise;
      }
    },
    list: () => [...found.values()],
  };
}

/** Says what failed, for a reader of a report. */
export function failureText({ error, where, times }: Failure): string {
  return `${where}${times > 1 ? ` and ${times - 1} more` : ''}: ${error}`;
}
