/** Responses of the reseller API, which come in an envelope (specification: "Response envelope (all endpoints)"). */
import type { FieldError } from '../generated/types.gen.ts';
import { classifyForeign, classOf, isRedirect, isRefusal, isTransient } from './classify.ts';
import { CursorExpiredError, PriceTooHighError } from './errors.ts';
import type { ErrorClass, ErrorDetails } from './errors.ts';
import { isRecord, parseJson } from './json.ts';
import type { Asked, Failure, Received, Verdict } from './wire.ts';

interface Envelope {
  readonly status: string;
  readonly requestID: string | null;
  readonly message: string;
  readonly data: never;
  readonly type?: string;
}

export function classifyEnvelope(received: Received, request: Asked): Verdict {
  const envelope = isRedirect(received.status) ? undefined : parseJson(received.text);
  if (!isEnvelope(envelope) || !hasRequestID(envelope, request)) return classifyForeign(received);
  const { status, data, requestID, message } = envelope;
  if (status !== 'success' || received.status >= 300) return classifyRefusal(received, envelope);
  return isDataOf(request, data) ? { data, requestID, message } : classifyForeign(received, 'other-data');
}

/** Each purchase that the document describes has one. */
function hasRequestID({ requestID }: Envelope, { operation: { effect, has } }: Asked): boolean {
  return requestID !== null || effect !== 'purchase' || has === undefined;
}

/** Whether data has the property that every response of the operation has, and repeats each value of this request that the document marks. */
export function isDataOf({ operation: { has, hasType, hasRange, repeats = {} }, values = {} }: Asked, data: unknown): boolean {
  if (has === undefined) return true;
  const value: unknown = Object(data)[has];
  if (value === undefined || (hasType && (typeof value !== hasType || value === null))) return false;
  if (hasRange && !(Number(value) >= hasRange[0] && Number(value) <= hasRange[1])) return false;
  return Object.entries(repeats).every(([name, path]) => {
    const got = path.split('.').reduce<unknown>((inner, key) => Object(inner)[key], data);
    return values[name] === undefined || (got !== undefined && sameText(got) === sameText(values[name]));
  });
}

/** The service writes names of domains in lower case, and in ASCII form. */
function sameText(value: unknown): string {
  const text = String(value).toLowerCase();
  const address = `http://${text}`;
  return /[^ -~]/.test(text) && URL.canParse(address) ? new URL(address).hostname : text;
}

function classifyRefusal({ status, headers }: Received, { type, requestID, message, data }: Envelope): Failure {
  const isPending = type === 'idempotency_key_in_progress';
  const isOfRequest = !SAYS_NOTHING_OF_THE_REQUEST.has(status) && type !== 'idempotency_key_reused';
  const isRefused = isRefusal(status) && !isPending && type !== 'internal_error';
  return {
    notCarriedOut: isRefused ? (isOfRequest ? 'request' : 'attempt') : undefined,
    transient: isPending || isTransient(status),
    Class: CLASSES[`${status} ${type}`] ?? classOf(status),
    message: message || `the service responded with status ${status}`,
    details: { status, headers, type, requestID, fields: readFieldErrors(data), ...(status === 412 && pricesOf(data)) },
  };
}

/** Refusals of the caller, or of any request at this moment. An earlier attempt may still have been carried out. */
const SAYS_NOTHING_OF_THE_REQUEST: ReadonlySet<number> = /* @__PURE__ */ new Set([401, 403, 429, 501]);

/** All members must be there: responses of other services may have a `status` and `data` too. */
function isEnvelope(json: unknown): json is Envelope {
  if (!isRecord(json) || !('data' in json)) return false;
  const { status, requestID, message } = json;
  return typeof status === 'string' && typeof message === 'string' && (requestID === null || typeof requestID === 'string');
}

/** Classes of refusals by status and type, where the status alone does not tell. */
const CLASSES: Readonly<Record<string, ErrorClass>> = {
  '400 cursor_expired': CursorExpiredError,
  '412 precondition_failed': PriceTooHighError,
};

function pricesOf(data: unknown): Pick<ErrorDetails, 'price' | 'maxPrice'> {
  const { net, max_price: maxPrice }: Readonly<Record<string, unknown>> = isRecord(data) ? data : {};
  return { ...(typeof net === 'number' && { price: net }), ...(typeof maxPrice === 'number' && { maxPrice }) };
}

function readFieldErrors(data: unknown): readonly FieldError[] | undefined {
  if (!isRecord(data) || !Array.isArray(data['fields'])) return undefined;
  return data['fields']
    .filter(isRecord)
    .map(({ field, rule, message }) => ({ field: String(field), rule: String(rule), message: String(message) }));
}
