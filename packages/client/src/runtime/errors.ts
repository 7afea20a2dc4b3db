/** What a failed call throws; every class of it is a `ResellerError`. */
import type { FieldError } from '../generated/types.gen.ts';

/** What is known of the request that failed. */
export interface Failure {
  /** The operationId of the document. */
  readonly operation: string;
  /** How often it was sent; 0 when it was refused before sending. */
  readonly attempts: number;
  /** The request as a command line, the API key and secrets left out. */
  readonly curl: string;
  readonly requestID?: string | null;
  /** HTTP status; undefined when no answer came. */
  readonly status?: number;
  /** Kind of failure as the service names it, such as `wrong_state`. */
  readonly type?: string;
  /** Rules that the input breaks. */
  readonly fields?: readonly FieldError[];
  /** Why what came is no answer of this API. */
  readonly reason?: AnswerError['reason'];
  /** Seconds that the server asks to wait. */
  readonly retryAfter?: number | undefined;
  /** Whether it may have been carried out all the same. */
  readonly uncertain?: boolean;
  /** Whether sending it again may help. */
  readonly retryable?: boolean;
}

/** A call failed. */
export class ResellerError extends Error {
  override readonly name: string = 'ResellerError';
  declare readonly operation: string;
  declare readonly attempts: number;
  declare readonly curl: string;
  declare readonly requestID?: string | null;
  declare readonly status?: number;
  declare readonly type?: string;
  declare readonly retryAfter?: number;
  declare readonly uncertain?: boolean;
  declare readonly retryable?: boolean;

  constructor(message: string, failure: Failure, cause?: unknown) {
    super(`${failure.operation}: ${message}${failure.attempts ? '' : '. Nothing was sent.'}`, { cause });
    Object.assign(this, failure);
  }
}

/** The API key is missing, unknown, revoked, or not allowed to do this. */
export class AuthenticationError extends ResellerError {
  override readonly name: string = 'AuthenticationError';
}

/** Nothing of yours has this identifier. */
export class NotFoundError extends ResellerError {
  override readonly name: string = 'NotFoundError';
}

/** The input breaks a rule: `fields` says which. With `attempts` 0, nothing was sent. */
export class InvalidError extends ResellerError {
  override readonly name: string = 'InvalidError';
  declare readonly fields: readonly FieldError[];
}

/** The purchase would exceed the credit limit. */
export class CreditLimitError extends ResellerError {
  override readonly name: string = 'CreditLimitError';
}

/** The state of the resource does not allow it. */
export class ConflictError extends ResellerError {
  override readonly name: string = 'ConflictError';
}

/** Too many requests. */
export class RateLimitError extends ResellerError {
  override readonly name: string = 'RateLimitError';
}

/** The service failed. */
export class ServerError extends ResellerError {
  override readonly name: string = 'ServerError';
}

/** No answer came. */
export class ConnectionError extends ResellerError {
  override readonly name: string = 'ConnectionError';
}

/** No whole answer came in time. */
export class TimeoutError extends ResellerError {
  override readonly name: string = 'TimeoutError';
}

/** The caller's signal ended it; its reason is the `cause`. */
export class AbortedError extends ResellerError {
  override readonly name: string = 'AbortedError';
}

/** What came is no answer of this API. */
export class AnswerError extends ResellerError {
  override readonly name: string = 'AnswerError';
  /** An HTML page, another text, JSON without the envelope, a body that ends too early, or a redirect, which is never followed. */
  declare readonly reason: 'html' | 'not-json' | 'no-envelope' | 'cut' | 'redirect';
}

/** The spend guard (`beforeBillable`, `budget`) or a dry run refused the call. Nothing was sent. */
export class SpendRefusedError extends ResellerError {
  override readonly name: string = 'SpendRefusedError';
}

/**
 * The answer to a request that must not be sent twice was lost: it may have been carried out.
 * `reseller.reconcile(error)` finds out; the `cause` says how the answer was lost.
 */
export class OutcomeUnknownError extends ResellerError {
  override readonly name: string = 'OutcomeUnknownError';
}

/** The classes for HTTP statuses below 500. */
export const BY_STATUS: Readonly<Record<number, typeof ResellerError>> = {
  400: InvalidError,
  401: AuthenticationError,
  402: CreditLimitError,
  403: AuthenticationError,
  404: NotFoundError,
  409: ConflictError,
  413: InvalidError,
  415: InvalidError,
  422: InvalidError,
  429: RateLimitError,
};
