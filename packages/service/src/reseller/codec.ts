/** Responses of the reseller API as text: the envelope, and the part of it that the request log shows. */
import { maskSecrets, memberTypes } from '@reseller/contract';
import type { Operation } from '@reseller/contract';

import type { Bought, LogEntry } from '../store/log-row.ts';
import { jsonInTurns } from '../store/turns.ts';
import { resellerDocument } from './document.ts';
import { cutForm, cutText, MAX_LOGGED_PATH_LENGTH, MAX_LOGGED_RESPONSE_LENGTH, maskPath } from './masking.ts';
import type { MaskKey } from './masking.ts';

/** Longer Idempotency-Keys are refused. */
const MAX_LOGGED_KEY_LENGTH = 255;

/** A response as it is sent. */
export interface Reply {
  readonly status: number;
  /** JSON text of the envelope. A long one is in chunks. */
  readonly body: string | readonly string[];
  /** The body with its secrets masked, for the request log. */
  readonly loggedBody: string;
  /** The `type` of an error, or null for a success. */
  readonly errorType: string | null;
  /** Seconds in Retry-After. If undefined, the status decides. */
  readonly retryAfter?: number | undefined;
}

/** A reply whose body is one text. */
export interface WholeReply extends Reply {
  readonly body: string;
}

/** An error to send. A Refusal is one. */
export interface ErrorContent {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly data?: object | undefined;
  readonly fields: readonly { readonly field: string; readonly rule: string; readonly message: string }[] | null;
  readonly retryAfter?: number | undefined;
}

/** The members of a request that its entry in the request log shows. */
export interface LoggedRequest {
  readonly id: string;
  readonly accountId: string;
  /** Milliseconds. */
  readonly now: number;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** JSON text of the form, with its secrets masked. */
  readonly form: string;
  /** Masks the caller's API key. */
  readonly maskKey: MaskKey;
  readonly keyId: string;
  /** The header Idempotency-Key as it was sent. */
  readonly idempotencyKey: string | undefined;
  /** Milliseconds since the request arrived. */
  elapsed(): number;
}

/** How a request ended, besides its response. */
export interface RequestEnd {
  readonly bought?: Bought | undefined;
  /** Whether the response is that of an earlier request. */
  readonly isReplay?: boolean;
}

/** A success to send. */
export interface SuccessContent {
  readonly message: string;
  readonly data: unknown;
}

/** Writes error responses. */
export interface ErrorCodec {
  /** @param maskKey Masks the caller's API key, which a refusal may repeat as the name of an unknown field. */
  error(requestId: string | null, content: ErrorContent, maskKey?: MaskKey): WholeReply;
}

/** Writes the responses of one operation. */
export interface ReplyCodec extends ErrorCodec {
  success(requestId: string, result: SuccessContent): WholeReply;
  /** Like `success`, in turns with other requests. */
  longSuccess(requestId: string, result: SuccessContent): Promise<Reply>;
  /** The response to a repeated request. @param body The body of the first response. */
  repeat(body: string): Reply;
}

/** Writes the responses to requests that reach no operation. */
export const errorCodec: ErrorCodec = createErrorCodec((requestId) => requestId);

/**
 * Builds the codec of an operation from the document. Called once per operation, at start-up.
 *
 * @param show Returns the part of the data that the caller may see.
 */
export function createReplyCodec(operation: Operation, show = (data: unknown) => data): ReplyCodec {
  const schema = successSchemaOf(operation);
  let hasRequestId: boolean | undefined;
  function sentId(requestId: string | null) {
    // An operation whose envelope allows null as requestID has none in its responses.
    hasRequestId ??= !memberTypes(resellerDocument, schema, 'requestID').has('null');
    return hasRequestId ? requestId : null;
  }
  /** The body for the request log. A long one has only the envelope. */
  function logged(envelope: ReturnType<typeof successEnvelope>, chunks: readonly string[]): string {
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    if (length > MAX_LOGGED_RESPONSE_LENGTH)
      return JSON.stringify(successEnvelope(envelope.requestID, envelope.message, `[cut: ${length} characters]`));
    const masked = maskSecrets(resellerDocument, schema, envelope);
    return masked === envelope ? chunks.join('') : JSON.stringify(masked);
  }
  return {
    ...createErrorCodec(sentId),
    success(requestId, { message, data }) {
      const envelope = successEnvelope(sentId(requestId), message, show(data));
      const body = JSON.stringify(envelope);
      return { status: 200, body, loggedBody: logged(envelope, [body]), errorType: null };
    },
    async longSuccess(requestId, { message, data }) {
      const envelope = successEnvelope(sentId(requestId), message, show(data));
      const body = await jsonInTurns(envelope);
      return { status: 200, body, loggedBody: logged(envelope, body), errorType: null };
    },
    repeat(body) {
      const loggedBody = JSON.stringify(maskSecrets(resellerDocument, schema, JSON.parse(body)));
      return { status: 200, body, loggedBody, errorType: null };
    },
  };
}

/** The envelope of a success (specification: "Response envelope (all endpoints)"). */
export function successEnvelope(requestID: string | null, message: string, data: unknown) {
  return { status: 'success', requestID, message, data } as const;
}

/** The entry of a request and its response in the request log. The caller's API key is masked wherever it occurs. */
export function toLogEntry(logged: LoggedRequest, reply: Reply, { bought, isReplay = false }: RequestEnd = {}): LogEntry {
  const { id, accountId, now, method, path, form, maskKey, keyId, idempotencyKey } = logged;
  const maskedForm = maskKey(form);
  return {
    account_id: accountId,
    request_id: id,
    date: now,
    success: reply.errorType === null ? 1 : 0,
    endpoint: cutText(maskKey(maskPath(path)), MAX_LOGGED_PATH_LENGTH),
    method,
    request_body: reply.errorType === null ? maskedForm : cutForm(maskedForm),
    error_type: reply.errorType,
    response_body: maskKey(reply.loggedBody),
    status: reply.status,
    duration: Math.ceil(logged.elapsed()),
    key_id: keyId,
    idempotency_key: idempotencyKey === undefined ? null : cutText(maskKey(idempotencyKey), MAX_LOGGED_KEY_LENGTH),
    is_replay: isReplay ? 1 : 0,
    bought: bought === undefined ? null : JSON.stringify(bought),
  };
}

function createErrorCodec(sentId: (requestId: string | null) => string | null): ErrorCodec {
  return {
    error(requestId, { status, type, message, fields, data, retryAfter }, maskKey = (text) => text) {
      const envelope = { status: 'error', type, requestID: sentId(requestId), message, data: data ?? (fields && { fields }) };
      const body = maskKey(JSON.stringify(envelope));
      return { status, body, loggedBody: body, errorType: type, retryAfter };
    },
  };
}

/** The pointer to the schema of an operation's JSON response with status 200. */
function successSchemaOf({ id, responses }: Operation): string {
  const schema = responses['200']?.content['application/json']?.pointer;
  if (schema === undefined) throw new Error(`The operation ${id} has no JSON response in the document.`);
  return schema;
}
