/** The failures of requests to the operator API. */
import type { ValidationProblem } from '../generated/types.gen.ts';

type Problem = Partial<ValidationProblem>;

/** A request that failed. `status` is 0 if no response arrived. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly problem: Problem;

  constructor(status: number, problem: Problem) {
    super(problem.detail ?? (status === 0 ? 'The service cannot be reached.' : `The service responded with ${status}.`));
    this.status = status;
    this.problem = problem;
  }
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof ApiError ? error.status : undefined;
}

/** The messages for the fields of a body, by JSON Pointer without `#`. */
export function fieldErrors(error: unknown): ReadonlyMap<string, string> {
  const errors = error instanceof ApiError ? (error.problem.errors ?? []) : [];
  return new Map(errors.map(({ pointer, detail }) => [pointer.replace(/^#/, ''), detail]));
}

/** The generated types say that a request fails with a problem. The interceptor of the client makes it an ApiError. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'The request failed.';
}
