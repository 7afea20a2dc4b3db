/** Responses of the reseller API, which come in an envelope (specification: "Response envelope (all endpoints)"). */
import type { FieldError } from '../generated/types.gen.ts';
import { classifyForeign, classOf, isRedirect, isTransient, retryAfterMs } from './classify.ts';
import type { Failure, Verdict } from './classify.ts';
import { isRecord, parseJson } from './json.ts';
import type { Received } from './send.ts';

interface Envelope {
  readonly status: string;
  readonly requestID: string | null;
  readonly message: string;
  readonly data: never;
  readonly type?: string;
}

export function classifyEnvelope(received: Received): Verdict {
  const envelope = readEnvelope(received);
  if (!envelope) return classifyForeign(received);
  const { status, data, requestID, message } = envelope;
  return status === 'success' && received.status < 300
    ? { kind: 'success', data, requestID, message }
    : classifyRefusal(received, envelope);
}

function classifyRefusal({ status, headers }: Received, { type, requestID, message, data }: Envelope): Failure {
  const isPending = type === 'idempotency_key_in_progress';
  // The server responds with 503 or 501 without carrying out the request: 501 means that it never can.
  const isUnknown = isPending || (status >= 500 && status !== 501 && status !== 503);
  return {
    kind: 'failure',
    source: 'api',
    carriedOut: isUnknown ? 'unknown' : 'no',
    settles: !isUnknown && !SAYS_NOTHING_OF_THE_REQUEST.has(status) && type !== 'idempotency_key_reused',
    transient: isPending || isTransient(status),
    retryAfterMs: retryAfterMs(headers),
    error: {
      Class: classOf(status),
      message: message === '' ? `the service responded with status ${status}` : message,
      details: { status, type, requestID, fields: readFieldErrors(data) },
    },
  };
}

/** Refusals of the caller, or of any request at this moment. An earlier attempt may still have been carried out. */
const SAYS_NOTHING_OF_THE_REQUEST: ReadonlySet<number> = new Set([401, 403, 408, 425, 429, 501, 503]);

function readEnvelope({ status, text }: Received): Envelope | undefined {
  if (isRedirect(status)) return undefined;
  const json = parseJson(text);
  return isEnvelope(json) ? json : undefined;
}

/**
 * All members must be there: responses of other services may have a `status` and `data` too. The content of `data` is not checked here:
 * the generated signatures give its type. Unknown fields and values must not fail a call that succeeded; `onDrift` reports them.
 */
function isEnvelope(json: unknown): json is Envelope {
  if (!isRecord(json) || !('data' in json)) return false;
  const { status, requestID, message } = json;
  return typeof status === 'string' && typeof message === 'string' && (requestID === null || typeof requestID === 'string');
}

function readFieldErrors(data: unknown): readonly FieldError[] | undefined {
  if (!isRecord(data) || !Array.isArray(data['fields'])) return undefined;
  return data['fields']
    .filter(isRecord)
    .map(({ field, rule, message }) => ({ field: String(field), rule: String(rule), message: String(message) }));
}
