/** Failures of calls, as messages and exit codes. */
import {
  AbortedError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  CreditLimitError,
  InvalidError,
  NotFoundError,
  OutcomeUnknownError,
  PermissionError,
  RateLimitError,
  ResellerError,
  ServerError,
  TimeoutError,
} from '@reseller/client/extension';
import { isError } from '@reseller/contract';

import { EXIT, Failure } from './failure.ts';
import type { ExitCode } from './failure.ts';

type ErrorClass = abstract new (...inputs: never[]) => Error;

const CODES: readonly (readonly [ErrorClass, ExitCode])[] = [
  [OutcomeUnknownError, EXIT.unknown],
  [InvalidError, EXIT.invalid],
  [AuthenticationError, EXIT.forbidden],
  [PermissionError, EXIT.forbidden],
  [NotFoundError, EXIT.notFound],
  [CreditLimitError, EXIT.tooExpensive],
  [ConflictError, EXIT.conflict],
  [RateLimitError, EXIT.unavailable],
  [ServerError, EXIT.unavailable],
  [ConnectionError, EXIT.unavailable],
  [TimeoutError, EXIT.unavailable],
  [AbortedError, EXIT.notConfirmed],
];

/** The status of a price above `max_price`, and of a change of another state. */
const PRECONDITION_FAILED = 412;
const CHANGED_MEANWHILE = 'https://operator.reseller.invalid/problems/precondition-failed';

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Failure) return error.exitCode;
  if (error instanceof ResellerError && error.status === PRECONDITION_FAILED)
    return error.type === CHANGED_MEANWHILE ? EXIT.conflict : EXIT.tooExpensive;
  return CODES.find(([Class]) => error instanceof Class)?.[1] ?? EXIT.failed;
}

/** A failure in words, without a stack. */
export function describeError(error: unknown): string {
  if (!isError(error)) return String(error);
  if (!(error instanceof ResellerError)) return error.message;
  const { message, requestID, retryAfter, uncertain } = error;
  const wait = retryAfter === undefined || uncertain ? '' : ` Wait ${retryAfter} s, then run the command again.`;
  return `${message}${requestID ? ` (request ${requestID})` : ''}${wait}`;
}
