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
  readonly requestID?: string | null | undefined;
  /** HTTP status; undefined when no answer came. */
  readonly status?: number | undefined;
  /** Kind of failure as the service names it, such as `wrong_state`. */
  readonly type?: string | undefined;
  /** Seconds that the server asks to wait. */
  readonly retryAfter?: number | undefined;
  /** Whether it may have been carried out all the same. */
  readonly uncertain?: boolean | undefined;
  /** Whether sending it again may help. */
  readonly retryable?: boolean | undefined;
}

/** What some classes tell beyond that. */
export interface Details extends Failure {
  /** Rules that the input breaks. */
  readonly fields?: readonly FieldError[] | undefined;
  /** Why what came is no answer of this API. */
  readonly reason?: AnswerError['reason'] | undefined;
}

/** A class of errors. */
export interface ErrorClass<E extends ResellerError> {
  new (message: string, options?: ErrorOptions): E;
}

/** A call failed. */
export class ResellerError extends Error implements Failure {
  override readonly name: string = 'ResellerError';
  declare readonly operation: string;
  declare readonly attempts: number;
  declare readonly curl: string;
  declare readonly requestID?: Failure['requestID'];
  declare readonly status?: Failure['status'];
  declare readonly type?: Failure['type'];
  declare readonly retryAfter?: Failure['retryAfter'];
  declare readonly uncertain?: Failure['uncertain'];
  declare readonly retryable?: Failure['retryable'];
}

/** Minified code keeps no name of a class: it is written out. */
const kind = <E extends ResellerError>(name: string): ErrorClass<E> => {
  const Class: ErrorClass<ResellerError> = class extends ResellerError {
    override readonly name: string = `${name}Error`;
  };
  return Class as ErrorClass<E>;
};

/** The API key is missing, unknown, revoked, or not allowed to do this. */
export interface AuthenticationError extends ResellerError {}
export const AuthenticationError: ErrorClass<AuthenticationError> = /* @__PURE__ */ kind('Authentication');

/** Nothing of yours has this identifier. */
export interface NotFoundError extends ResellerError {}
export const NotFoundError: ErrorClass<NotFoundError> = /* @__PURE__ */ kind('NotFound');

/** The input breaks a rule: `fields` says which. With `attempts` 0, nothing was sent. */
export interface InvalidError extends ResellerError {
  readonly fields: readonly FieldError[];
}
export const InvalidError: ErrorClass<InvalidError> = /* @__PURE__ */ kind('Invalid');

/** The purchase would exceed the credit limit. */
export interface CreditLimitError extends ResellerError {}
export const CreditLimitError: ErrorClass<CreditLimitError> = /* @__PURE__ */ kind('CreditLimit');

/** The state of the resource does not allow it. */
export interface ConflictError extends ResellerError {}
export const ConflictError: ErrorClass<ConflictError> = /* @__PURE__ */ kind('Conflict');

/** Too many requests. */
export interface RateLimitError extends ResellerError {}
export const RateLimitError: ErrorClass<RateLimitError> = /* @__PURE__ */ kind('RateLimit');

/** The service failed. */
export interface ServerError extends ResellerError {}
export const ServerError: ErrorClass<ServerError> = /* @__PURE__ */ kind('Server');

/** No answer came. */
export interface ConnectionError extends ResellerError {}
export const ConnectionError: ErrorClass<ConnectionError> = /* @__PURE__ */ kind('Connection');

/** No whole answer came in time. */
export interface TimeoutError extends ResellerError {}
export const TimeoutError: ErrorClass<TimeoutError> = /* @__PURE__ */ kind('Timeout');

/** The caller's signal ended it; its reason is the `cause`. */
export interface AbortedError extends ResellerError {}
export const AbortedError: ErrorClass<AbortedError> = /* @__PURE__ */ kind('Aborted');

/** What came is no answer of this API. */
export interface AnswerError extends ResellerError {
  /** An HTML page, another text, JSON without the envelope, a body that ends too early, or a redirect, which is never followed. */
  readonly reason: 'html' | 'not-json' | 'no-envelope' | 'cut' | 'redirect';
}
export const AnswerError: ErrorClass<AnswerError> = /* @__PURE__ */ kind('Answer');

/** The spend guard (`beforeBillable`, `budget`) or a dry run refused the call. Nothing was sent. */
export interface SpendRefusedError extends ResellerError {}
export const SpendRefusedError: ErrorClass<SpendRefusedError> = /* @__PURE__ */ kind('SpendRefused');

/**
 * The answer to a request that must not be sent twice was lost: it may have been carried out.
 * `reseller.reconcile(error)` finds out; the `cause` says how the answer was lost.
 */
export interface OutcomeUnknownError extends ResellerError {}
export const OutcomeUnknownError: ErrorClass<OutcomeUnknownError> = /* @__PURE__ */ kind('OutcomeUnknown');

/** The classes for HTTP statuses below 500. */
export const BY_STATUS: Readonly<Record<number, ErrorClass<ResellerError>>> = {
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
