/** Everything that a call can throw extends `ResellerError`. */
import type { FieldError } from '../generated/types.gen.ts';
import type { Values } from './form.ts';
import type { Operation } from './operation.ts';

/** The known details of the request that failed. Details that are unknown are absent. */
export type ErrorDetails = { readonly [Name in Exclude<keyof ResellerError, keyof Error>]?: ResellerError[Name] | undefined } & {
  readonly fields?: readonly FieldError[] | undefined;
  readonly reason?: ResponseErrorReason | undefined;
  readonly price?: number | undefined;
  readonly maxPrice?: number | undefined;
};

/**
 * Why a response is not that of the operation: an HTML page, other text, JSON without the envelope, the data of another operation, a body
 * that ends early, or a redirect.
 */
export type ResponseErrorReason = 'html' | 'not-json' | 'no-envelope' | 'other-data' | 'cut' | 'redirect';

/** A class of errors. */
export interface ErrorClass<E extends ResellerError = ResellerError> {
  new (message: string, details: ErrorDetails, cause?: unknown): E;
}

/** A call failed. The class says how. */
export class ResellerError extends Error {
  // Minifiers rename classes, so each class carries its name as data.
  static override readonly name: string = 'ResellerError';
  /** The operationId of the document: `createVm`. */
  declare readonly operation: string;
  /** How many times the request was sent. 0 when it was refused before sending. */
  declare readonly attempts: number;
  /** The request as a command line. The API key, secrets and personal data are left out. */
  declare readonly curl: string;
  /** The `Idempotency-Key` that was sent. Pass it to another call to repeat this one. */
  declare readonly idempotencyKey?: string;
  /** Quote it when you ask the provider about the request. */
  declare readonly requestID?: string | null;
  /** HTTP status, when a response came. */
  declare readonly status?: number;
  /** Headers of the response, when one came. */
  declare readonly headers?: Headers;
  /** Kind of failure as the service names it: `wrong_state`. */
  declare readonly type?: string;
  /** Seconds that the server asks you to wait. */
  declare readonly retryAfter?: number;
  /** Whether the request may have been carried out. */
  declare readonly uncertain: boolean;

  constructor(message: string, details: ErrorDetails, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    Object.defineProperty(this, 'name', { value: new.target.name, configurable: true, writable: true });
    const known = Object.entries({ uncertain: false, ...details }).filter(([, value]) => value !== undefined);
    Object.assign(this, Object.fromEntries(known));
  }
}

/** The API key is missing, unknown or revoked. */
export class AuthenticationError extends ResellerError {
  static override readonly name = 'AuthenticationError';
}

/** The key is valid, but may not do this: `type` says why, `account_suspended` or `read_only_key`. */
export class PermissionError extends ResellerError {
  static override readonly name = 'PermissionError';
}

/** The account has nothing with this identifier. */
export class NotFoundError extends ResellerError {
  static override readonly name = 'NotFoundError';
}

/** The input breaks a rule. With `attempts` 0, nothing was sent. */
export class InvalidError extends ResellerError {
  static override readonly name = 'InvalidError';
  /** One item for each broken rule. Absent when the service names none. */
  declare readonly fields?: readonly FieldError[];
}

/** The purchase would exceed the credit limit. */
export class CreditLimitError extends ResellerError {
  static override readonly name = 'CreditLimitError';
}

/** The purchase costs more than its `max_price`. Nothing was bought. */
export class PriceTooHighError extends ResellerError {
  static override readonly name = 'PriceTooHighError';
  /** The net price in EUR. Absent if the service does not name it. */
  declare readonly price?: number;
  /** The highest net price in EUR that the call accepted. */
  declare readonly maxPrice?: number;
}

/** The events after the cursor were deleted. Compare your data with the lists of the API, then read the feed without a cursor. */
export class CursorExpiredError extends ResellerError {
  static override readonly name = 'CursorExpiredError';
}

/** The state of the resource does not allow this. */
export class ConflictError extends ResellerError {
  static override readonly name = 'ConflictError';
}

/** Too many requests. */
export class RateLimitError extends ResellerError {
  static override readonly name = 'RateLimitError';
}

/** The service failed. */
export class ServerError extends ResellerError {
  static override readonly name = 'ServerError';
}

/** No response came. */
export class ConnectionError extends ResellerError {
  static override readonly name = 'ConnectionError';
}

/** The response did not arrive in time. */
export class TimeoutError extends ResellerError {
  static override readonly name = 'TimeoutError';
}

/** Your signal ended the call. Its reason is the `cause`. */
export class AbortedError extends ResellerError {
  static override readonly name = 'AbortedError';
}

/** The response is not from this API. */
export class ResponseError extends ResellerError {
  static override readonly name = 'ResponseError';
  declare readonly reason: ResponseErrorReason;
}

/** `beforeBillable` or `readOnly` refused the call. Nothing was sent. */
export class SpendRefusedError extends ResellerError {
  static override readonly name = 'SpendRefusedError';
}

/**
 * The response to a request that must not take effect twice was lost, and the request may have been carried out.
 * `reseller.reconcile(error)` finds out. The `cause` says how the response was lost.
 */
export class OutcomeUnknownError extends ResellerError {
  static override readonly name = 'OutcomeUnknownError';
  /** The call as a small JSON value, for `reconcile` in another process. Errors of `createReseller` alone have it. */
  declare readonly toJSON?: () => LostCall;
}

/** A call whose outcome is unknown. Without the API key, further headers, secrets and personal data, so that it may be kept and logged. */
export interface LostCall {
  readonly name: string;
  readonly message: string;
  readonly operation: Omit<Operation, 'form' | 'required' | 'needs' | 'hidden'>;
  readonly method: string;
  readonly url: string;
  readonly path: Values;
  readonly form: Values;
  /** The encoded form. */
  readonly body: string | null;
  readonly curl: string;
  readonly idempotencyKey?: string | undefined;
  /** When it was first sent, ISO 8601. */
  readonly sentAt: string;
  /** When its last attempt ended, ISO 8601. */
  readonly endedAt: string;
  readonly attempts: number;
  /** A hash of the service and the API key. The request is sent again with this key only. */
  readonly account?: string | undefined;
  /** An earlier request of the account, by which the request log shows that another key is one of the same account. */
  readonly earlier?: { readonly requestID: string; readonly at: string } | undefined;
}
