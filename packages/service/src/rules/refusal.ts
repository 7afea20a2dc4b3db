import { MAX_NAMED_RULES } from '../generated/facts.gen.ts';
import type { ERROR_TYPES } from '../generated/facts.gen.ts';
import type { BrokenField } from './broken-field.ts';
import { counted } from './counted.ts';

/** The `type` of a failure, as the document lists them. */
type ErrorType = (typeof ERROR_TYPES)[number];

/** The statuses of a refusal, each with its possible types. The specification does not name the two that only the extension has. */
export interface Kinds extends Record<number, ErrorType | 'not_implemented' | 'cursor_expired'> {
  400: 'malformed_request' | 'cursor_expired';
  401: 'unauthorized';
  402: 'credit_limit_exceeded' | 'spending_limit_exceeded';
  403: 'account_suspended' | 'read_only_key' | 'operation_not_allowed';
  404: 'not_found';
  405: 'method_not_allowed';
  408: 'request_timeout';
  409: 'wrong_state' | 'out_of_capacity' | 'quota_exceeded' | 'idempotency_key_in_progress' | 'idempotency_key_reused';
  412: 'precondition_failed';
  413: 'payload_too_large';
  414: 'uri_too_long';
  415: 'unsupported_media_type';
  416: 'range_not_satisfiable';
  422: 'validation_failed';
  429: 'rate_limited';
  431: 'headers_too_large';
  500: 'internal_error';
  501: 'not_implemented';
  503: 'unavailable';
  505: 'http_version_not_supported';
}

export type RefusalStatus = keyof Kinds;

export interface RefusalDetails {
  /** Every broken rule of the form. */
  readonly fields?: readonly BrokenField[] | null;
  /** `data` of a refusal that has no broken fields. */
  readonly data?: object;
  readonly retryAfter?: number;
}

/** Refuses a request. The message says what was wrong, what was expected and what to do. Throwing it rolls back the transaction. */
export class Refusal<Status extends RefusalStatus = RefusalStatus> extends Error {
  override readonly name = 'Refusal';
  readonly status: Status;
  readonly type: Kinds[Status];
  readonly fields: readonly BrokenField[] | null;
  readonly data: object | undefined;
  /** Whole seconds to wait before the request is sent again. */
  readonly retryAfter: number | undefined;

  constructor(status: Status, type: Kinds[Status], message: string, { fields = null, data, retryAfter }: RefusalDetails = {}) {
    super(message);
    this.status = status;
    this.type = type;
    this.fields = fields;
    this.data = data;
    this.retryAfter = retryAfter;
  }
}

/** Too many requests, with the time to wait. */
export class RateLimited extends Refusal<429> {
  /** @param retryAfter Whole seconds. */
  constructor(retryAfter: number, why = 'This API key has sent too many requests.') {
    const wait = `Wait ${counted(retryAfter, 'second')}, as Retry-After says`;
    super(429, 'rate_limited', `${why} ${wait}, and send the request again.`, { retryAfter });
  }
}

/** A form that breaks rules, with each of them or the first 50. */
export function invalid(broken: readonly BrokenField[]): Refusal {
  const fields = broken.slice(0, MAX_NAMED_RULES);
  const named = fields.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new Refusal(422, 'validation_failed', `The form breaks ${fields.length === 1 ? 'a rule' : 'rules'}: ${named}.`, { fields });
}

/** The same message for an identifier that does not exist and for that of another account. */
export function notFound(what: string): Refusal {
  return new Refusal(404, 'not_found', `No such ${what} exists on this account. Check the identifier in the path.`);
}
