/** The meaning of a response: whether the request was carried out, and which error describes it. */
import {
  AuthenticationError,
  ConflictError,
  CreditLimitError,
  InvalidError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ResellerError,
  ResponseError,
  ServerError,
} from './errors.ts';
import type { ErrorClass, ResponseErrorReason } from './errors.ts';
import { parseJson } from './json.ts';
import type { Failure, Received } from './wire.ts';

/** A gateway's error page does not show whether the service carried out the request. */
export function classifyForeign(received: Received, reason: ResponseErrorReason = foreignReason(received)): Failure {
  const { status, headers } = received;
  const location = reason === 'redirect' ? headers.get('location') : null;
  const target = location === null ? '' : ` to ${location}`;
  return {
    transient: isTransient(status) || reason === 'cut',
    Class: ResponseError,
    message: `the response is not from the API: status ${status}, ${reason}${target}. Is the baseUrl right?`,
    details: { status, headers, reason },
  };
}

/** Whether a status is that of a redirect. Browsers hide it and report 0. */
export function isRedirect(status: number): boolean {
  return status < 200 || (status >= 300 && status < 400);
}

function foreignReason({ status, text }: Received): ResponseErrorReason {
  if (isRedirect(status)) return 'redirect';
  if (parseJson(text) !== undefined) return 'no-envelope';
  if (/^\s*</.test(text)) return 'html';
  return /^\s*\{/.test(text) ? 'cut' : 'not-json';
}

/** Whether a retry may succeed after a response with this status. */
export function isTransient(status: number): boolean {
  return [408, 425, 429].includes(status) || (status >= 500 && status !== 501);
}

/**
 * Whether a refusal of the API with this status shows that the request was not carried out. A service may fail with 5xx after it has
 * carried out a request, and 408 and 425 may come from something in front of it. With 501 it says that it never can.
 */
export function isRefusal(status: number): boolean {
  return status === 429 || !isTransient(status);
}

/** The class of the error that describes a refusal with this status. */
export function classOf(status: number): ErrorClass {
  return CLASSES[status] ?? (status >= 500 ? ServerError : ResellerError);
}

const CLASSES: Readonly<Record<number, ErrorClass>> = {
  400: InvalidError,
  401: AuthenticationError,
  402: CreditLimitError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  413: InvalidError,
  415: InvalidError,
  422: InvalidError,
  429: RateLimitError,
};
