/** Failed requests as problems (RFC 9457). */

import type { BrokenRule } from '@reseller/operator-client';

import { ClockError } from '../delivery/clock-check.ts';
import { InfrastructureError } from '../delivery/deliver.ts';
import { MAX_NAMED_RULES } from '../generated/operator/facts.gen.ts';
import type { PROBLEM_TYPES } from '../generated/operator/facts.gen.ts';
import { Refusal } from '../rules/refusal.ts';
import { StoreBusyError, StoreUnavailableError } from '../store/store.ts';

type ProblemType = (typeof PROBLEM_TYPES)[number];
/** The last segment of a problem type. */
export type ProblemKind = ProblemType extends `${string}/problems/${infer Kind}` ? Kind : never;

const kinds = {
  'malformed-request': [400, 'Malformed request'],
  unauthorized: [401, 'The token is missing or unknown'],
  forbidden: [403, 'The token does not allow this'],
  'sandbox-only': [403, 'Only a sandbox supports this'],
  'not-found': [404, 'Not found'],
  'method-not-allowed': [405, 'The path does not support this method'],
  'wrong-state': [409, 'The state does not allow this'],
  'in-use': [409, 'In use'],
  'confirmation-required': [409, 'A second operator must confirm this'],
  'out-of-capacity': [409, 'Out of capacity'],
  'quota-exceeded': [409, 'Quota exceeded'],
  'credit-limit-exceeded': [409, 'Credit limit exceeded'],
  'request-timeout': [408, 'The request did not arrive in time'],
  'precondition-failed': [412, 'Changed by another request'],
  'payload-too-large': [413, 'The body is too long'],
  'uri-too-long': [414, 'The path is too long'],
  'unsupported-media-type': [415, 'The body is not JSON'],
  'validation-failed': [422, 'The body breaks a rule'],
  'rate-limited': [429, 'Too many requests'],
  'headers-too-large': [431, 'The headers are too long'],
  'internal-error': [500, 'The service failed'],
  'not-implemented': [501, 'The infrastructure cannot do this'],
  unavailable: [503, 'Not available at the moment'],
  'http-version-not-supported': [505, 'The version of HTTP is not supported'],
} as const satisfies Readonly<Record<ProblemKind, readonly [number, string]>>;

/** Optional details of a problem. */
export interface ProblemDetails {
  /** Every broken rule of the body. */
  readonly errors?: readonly BrokenRule[];
  /** Whole seconds to wait. */
  readonly retryAfter?: number;
}

/** A failed request. The transaction is rolled back. */
export class OperatorProblem extends Error {
  override readonly name = 'OperatorProblem';
  readonly kind: ProblemKind;
  readonly errors: readonly BrokenRule[] | undefined;
  readonly retryAfter: number | undefined;

  /** @param detail What was wrong, what was expected and what to do. */
  constructor(kind: ProblemKind, detail: string, { errors, retryAfter }: ProblemDetails = {}) {
    super(detail);
    this.kind = kind;
    this.errors = errors;
    this.retryAfter = retryAfter;
  }

  get status(): number {
    return kinds[this.kind][0];
  }
}

/** A body that breaks rules, with each of them or the first 50. */
export function validationProblem(broken: readonly BrokenRule[]): OperatorProblem {
  const errors = broken.slice(0, MAX_NAMED_RULES);
  const detail = errors.length === 1 ? 'One rule is broken; see errors.' : `${errors.length} rules are broken; see errors.`;
  return new OperatorProblem('validation-failed', detail, { errors });
}

/** @throws OperatorProblem 422 if there are errors. */
export function assertNoBrokenRules(errors: readonly BrokenRule[]): void {
  if (errors.length > 0) throw validationProblem(errors);
}

/** A request that cannot be read. */
export function malformed(detail: string): OperatorProblem {
  return new OperatorProblem('malformed-request', detail);
}

export function notFound(what: string): OperatorProblem {
  return new OperatorProblem('not-found', `There is no ${what}. Check the identifier in the path.`);
}

/** Returns the value, or throws a problem if it was not found. */
export function requireFound<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw notFound(what);
  return value;
}

/** The JSON text of a problem. */
export function problemBody(problem: OperatorProblem, requestId: string): string {
  const [status, title] = kinds[problem.kind];
  const type: ProblemType = `https://operator.reseller.invalid/problems/${problem.kind}`;
  return JSON.stringify({
    type,
    title,
    status,
    detail: problem.message,
    instance: `urn:uuid:${requestId}`,
    ...(problem.errors && { errors: problem.errors }),
  });
}

/** The problem that the operator gets for a failure. */
export function problemOf(error: unknown): OperatorProblem {
  if (error instanceof OperatorProblem) return error;
  if (error instanceof Refusal) return problemOfRefusal(error);
  if (error instanceof InfrastructureError) return new OperatorProblem('unavailable', error.message, { retryAfter: 5 });
  if (error instanceof ClockError) return new OperatorProblem('unavailable', error.message, { retryAfter: 5 });
  if (error instanceof StoreBusyError) {
    return new OperatorProblem(
      'unavailable',
      'The service has more requests than it can handle at the moment, and has not begun this one. Wait 2 seconds, as Retry-After says, and send the request again.',
      { retryAfter: 2 },
    );
  }
  if (error instanceof StoreUnavailableError) {
    return new OperatorProblem(
      'unavailable',
      'The store cannot be reached; nothing was changed. Wait 2 seconds, as Retry-After says, and send the request again.',
      { retryAfter: 2 },
    );
  }
  return new OperatorProblem(
    'internal-error',
    'The service failed; the effect of the request is uncertain. Read the state before you repeat the request, and look for its instance in the log.',
  );
}

/** Rules and core functions throw the refusals of the reseller API. */
function problemOfRefusal({ type, message, fields }: Refusal): OperatorProblem {
  switch (type) {
    case 'credit_limit_exceeded':
      return new OperatorProblem('credit-limit-exceeded', message);
    case 'not_found':
      return new OperatorProblem('not-found', message);
    case 'wrong_state':
      return new OperatorProblem('wrong-state', message);
    case 'out_of_capacity':
      return new OperatorProblem('out-of-capacity', message);
    case 'quota_exceeded':
      return new OperatorProblem('quota-exceeded', message);
    case 'validation_failed':
      return validationProblem((fields ?? []).map((field) => ({ pointer: `#/${field.field}`, detail: field.message })));
    case 'not_implemented':
      return new OperatorProblem('not-implemented', message);
    case 'unavailable':
      return problemOf(new StoreUnavailableError(message));
    default:
      return problemOf(undefined);
  }
}
