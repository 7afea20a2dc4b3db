/** A request: checked and encoded before anything is sent, then sent until it is settled. */
import { API_KEY_HEADER } from '../generated/document.gen.ts';
import type { FieldError } from '../generated/types.gen.ts';
import { classify } from './classify.ts';
import type { Envelope, Failure } from './classify.ts';
import { learnKeySupport } from './connection.ts';
import type { Connection } from './connection.ts';
import { InvalidError, OutcomeUnknownError } from './errors.ts';
import type { ErrorClass, ErrorDetails, ResellerError } from './errors.ts';
import { encodeForm, encodeText, MASK } from './form.ts';
import type { EncodedField, Refuse, Values } from './form.ts';
import type { Operation } from './operation.ts';
import type { DryRun, RequestOptions, Step } from './options.ts';
import { isLostAfter, retryDelayMs } from './retry.ts';
import { sendOnce } from './send.ts';
import type { Received, WireRequest } from './send.ts';

/** A request that was checked and not sent yet. */
export interface Prepared {
  readonly operation: Operation;
  readonly dryRun: DryRun;
  /** Values of the path and of the form, as they were given. */
  readonly path: Values;
  readonly body: Values;
  readonly fields: readonly EncodedField[];
  /** Undefined when the operation takes no key. */
  readonly idempotencyKey: string | undefined;
  readonly options: RequestOptions;
  /** Whether an earlier sending of it may have been carried out. */
  readonly isLost?: boolean;
}

/** A call as the generated functions pass it on. */
export interface RequestInput extends RequestOptions {
  readonly url: string;
  readonly path?: Values | undefined;
  readonly body?: Values | undefined;
  readonly meta: Operation;
}

/** A successful response. */
export interface Answer<T> {
  readonly data: T;
  /** Null on some account and accounting lists. */
  readonly requestID: string | null;
  /** For people. Programs should not compare it. */
  readonly message: string;
  readonly status: number;
  /** How many times the request was sent. */
  readonly attempts: number;
  /** The response. Its body can be read. */
  readonly response: Response;
}

/** Hears about each step of a request. `attempt` counts from 1. */
export type Observe = (step: Step, attempt: number) => void;

/** @throws InvalidError naming every value that breaks a rule. */
export function prepare(connection: Connection, method: string, input: RequestInput): Prepared {
  const { base, showPersonalData } = connection;
  const { url: template, path = {}, body = {}, meta: operation, ...options } = input;
  const issues: FieldError[] = [];
  const refuse: Refuse = (field, rule, message) => void issues.push({ field, rule, message });
  const url = base + fillPath(template, path, refuse);
  const fields = encodeForm(operation, body, refuse, showPersonalData);
  const idempotencyKey = operation.keyed ? encodeURIComponent(options.idempotencyKey ?? crypto.randomUUID()) : undefined;
  const dryRun = {
    operation: operation.id,
    billable: operation.effect === 'purchase',
    method,
    url,
    form: Object.fromEntries(fields.map(({ name, shown }) => [name, shown])),
    curl: curlOf(method, url, idempotencyKey, fields),
  };
  const prepared = { operation, dryRun, path, body, fields, idempotencyKey, options };
  if (issues.length > 0) {
    const message = issues.map((issue) => `${issue.field} ${issue.message}`).join('; ');
    throw errorOf(InvalidError, prepared, message, { fields: issues });
  }
  return prepared;
}

/** An error about a request. Its message begins with the operation. */
export function errorOf<E extends ResellerError>(
  Class: ErrorClass<E>,
  { operation, dryRun, idempotencyKey }: Pick<Prepared, 'operation' | 'dryRun' | 'idempotencyKey'>,
  message: string,
  details: Partial<ErrorDetails> = {},
  cause?: unknown,
): E {
  const attempts = details.attempts ?? 0;
  const text = `${operation.id}: ${message}${attempts === 0 ? '. Nothing was sent.' : ''}`;
  return new Class(text, { operation: operation.id, attempts, curl: dryRun.curl, idempotencyKey, ...details }, cause);
}

/**
 * Sends a request until its outcome is certain or it must not be sent again.
 *
 * @throws OutcomeUnknownError when it may have been carried out and must not take effect twice.
 * @throws ResellerError of another class when it was not carried out, or when that does not matter.
 */
export async function send(connection: Connection, prepared: Prepared, observe: Observe = () => {}): Promise<Answer<never>> {
  const { fetch, clock, keys } = connection;
  const { operation, options } = prepared;
  const { signal, timeoutMs = connection.timeoutMs, maxRetries = connection.maxRetries } = options;
  const wire = wireRequestOf(connection, prepared);
  let { isLost = false } = prepared;
  for (let attempts = 1; ; attempts++) {
    observe({ type: 'request' }, attempts);
    const attempt = await sendOnce(wire, { fetch, timeoutMs, signal });
    if (attempt.kind === 'received') learnKeySupport(keys, attempt.headers);
    const verdict = classify(attempt, timeoutMs);
    if (verdict.kind === 'success' && attempt.kind === 'received') {
      observe({ type: 'response', status: attempt.status }, attempts);
      return answerOf(attempt, verdict.envelope, attempts);
    }
    if (verdict.kind === 'success') throw new Error('A response that was not received cannot be a success.');
    isLost = isLostAfter(isLost, verdict);
    const isRepeatable = operation.repeatable || (keys.honoured === true && operation.keyed);
    const delay = retryDelayMs(verdict, { isRepeatable, mayBeCarriedOut: isLost, retries: attempts - 1, maxRetries });
    const sent = attempt.kind === 'aborted' && !attempt.left ? attempts - 1 : attempts;
    const error = delay === undefined ? settle(prepared, verdict, sent, isLost) : errorOfFailure(prepared, verdict, sent, isLost);
    observe({ type: 'failure', error, delay }, attempts);
    if (delay === undefined) throw error;
    await clock.sleep(delay, signal);
  }
}

/** The error that a request ends with. */
export function settle(prepared: Prepared, failure: Failure, attempts: number, isLost: boolean): ResellerError {
  const last = errorOfFailure(prepared, failure, attempts, isLost);
  if (!isLost || prepared.operation.repeatable) return last;
  const { status, requestID, retryAfter } = last;
  const message = `the outcome is unknown, because the response was lost: ${failure.error.message}. Pass this error to reconcile() to find out`;
  return errorOf(OutcomeUnknownError, prepared, message, { attempts, uncertain: true, status, requestID, retryAfter }, last);
}

function errorOfFailure(prepared: Prepared, { error, retryAfterMs }: Failure, attempts: number, isLost: boolean): ResellerError {
  const retryAfter = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000);
  const uncertain = isLost && prepared.operation.effect !== 'read';
  return errorOf(error.Class, prepared, error.message, { ...error.details, retryAfter, attempts, uncertain }, error.cause);
}

function wireRequestOf({ apiKey, headers }: Connection, { dryRun, fields, idempotencyKey, options }: Prepared): WireRequest {
  const body = fields.map(({ name, text }) => `${name}=${text}`).join('&');
  return {
    url: dryRun.url,
    method: dryRun.method,
    body: body === '' ? null : body,
    headers: {
      ...headers,
      [API_KEY_HEADER]: apiKey(),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      ...options.headers,
    },
  };
}

function answerOf(
  { status, statusText, headers, text }: Received,
  { data, requestID, message }: Envelope,
  attempts: number,
): Answer<never> {
  const response = new Response(text, { status, statusText, headers });
  return { data, requestID, message, status, attempts, response };
}

function fillPath(template: string, path: Values, refuse: Refuse): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    const text = typeof value === 'string' || Number.isSafeInteger(value) ? encodeText(String(value)) : undefined;
    // A dot segment would be another path.
    if (text === undefined || text === '' || /^\.+$/.test(text)) {
      refuse(name, 'type', 'must be an identifier: a text that is not empty, or a whole number');
      return '';
    }
    return text;
  });
}

function curlOf(method: string, url: string, idempotencyKey: string | undefined, fields: readonly EncodedField[]): string {
  return [
    `curl -X ${method} '${url}' -H "${API_KEY_HEADER}: $API_KEY"`,
    ...(idempotencyKey === undefined ? [] : [`-H "Idempotency-Key: ${idempotencyKey}"`]),
    ...(fields.length === 0 ? [] : [`-d '${fields.map(({ name, text, shown }) => `${name}=${shown === MASK ? MASK : text}`).join('&')}'`]),
  ].join(' ');
}
