import { readJsonText } from '../document/json-text.ts';
import type { JsonText } from '../document/json-text.ts';
import { isJsonType, mediaTypeName } from '../document/media-type.ts';
import type { MediaType, Operation, OperationResponse } from '../document/operation.ts';
import { credentialOf, secretsOfCredential } from './credential.ts';

/** The key of a request: that of the account, none, or a made-up one. */
export type Credential = 'account' | 'none' | 'wrong';

export const PURPOSES = [
  'call',
  'traffic',
  'valid-form',
  'next-page',
  'no-key',
  'wrong-key',
  'unknown-id',
  'invalid-form',
  'invalid-parameter',
  'method',
  'repeat',
  'remove',
  'remove-again',
  'read-removed',
  'undo',
  'leftover',
  'poll',
  'read-changed',
  'precondition',
] as const;

/** Why a request was sent: as a regular call, or to test a certain behaviour. */
export type Purpose = (typeof PURPOSES)[number];

/** A request as it was sent. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly credential: Credential;
  readonly purpose: Purpose;
  /** The special part of the request, such as "cores below its minimum"; empty for a plain call. */
  readonly detail: string;
  /** Whether the body has generated values, because the document has no examples. */
  readonly isMadeUp?: boolean;
  /** ISO 8601. */
  readonly at: string;
}

/** A request and its response, parsed once. */
export interface Exchange {
  readonly operation: Operation;
  readonly sent: SentRequest;
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Media type in lower case without parameters; empty where the header is missing. */
  readonly mediaType: string;
  readonly body: ResponseBody;
  /** Whether the response contains the credential of the request. */
  readonly echoesCredential: boolean;
  /** Milliseconds from sending to the last byte. */
  readonly milliseconds: number;
}

/** A response before parsing. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly milliseconds: number;
  /** The reason why the connection closed before the response was complete. */
  readonly cut?: string | undefined;
}

export type ResponseBody =
  | { readonly kind: 'empty' }
  | ({ readonly kind: 'json' } & JsonText)
  /** The connection closed before the response was complete. */
  | { readonly kind: 'cut'; readonly problem: string }
  /** Not JSON, regardless of the content type; `problem` says why, without the text itself. */
  | { readonly kind: 'other'; readonly problem: string };

/** Parses a response. */
export function readExchange(operation: Operation, sent: SentRequest, raw: RawResponse): Exchange {
  const { status, headers, milliseconds } = raw;
  return {
    operation,
    sent,
    status,
    headers,
    milliseconds,
    mediaType: mediaTypeName(headers['content-type'] ?? ''),
    body: raw.cut === undefined ? readResponseBody(raw.bytes) : { kind: 'cut', problem: raw.cut },
    echoesCredential: echoesCredential(operation, sent, raw),
  };
}

/** A shorter credential occurs in many texts by chance. */
const MIN_CREDENTIAL_LENGTH = 8;

function echoesCredential({ security }: Operation, sent: SentRequest, { headers, bytes }: RawResponse): boolean {
  return (security?.keys ?? []).some((key) => {
    const credential = credentialOf(key, sent);
    if (credential === undefined) return false;
    const secrets = secretsOfCredential(key, credential).filter(({ length }) => length >= MIN_CREDENTIAL_LENGTH);
    if (secrets.length === 0) return false;
    // A response may renew a session cookie.
    const shown = Object.entries(headers).filter(([name]) => !(key.in === 'cookie' && name === 'set-cookie'));
    const texts = [Buffer.from(bytes).toString(), ...shown.map(([, value]) => value)];
    return secrets.some((secret) => texts.some((text) => text.includes(secret)));
  });
}

/** Whether a request conforms to the document, so that its response shows the regular behaviour. */
export function isPlainCall({ sent }: Exchange): boolean {
  return PLAIN.has(sent.purpose);
}

const PLAIN: ReadonlySet<Purpose> = new Set([
  'call',
  'traffic',
  'valid-form',
  'next-page',
  'repeat',
  'remove',
  'undo',
  'poll',
  'read-changed',
]);

/** The value of a JSON body, or undefined. */
export function jsonValue({ body }: Pick<Exchange, 'body'>): unknown {
  return body.kind === 'json' ? body.value : undefined;
}

function readResponseBody(bytes: Uint8Array): ResponseBody {
  if (bytes.length === 0) return { kind: 'empty' };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { kind: 'other', problem: `${bytes.length} bytes that are not UTF-8` };
  }
  try {
    return { kind: 'json', ...readJsonText(text) };
  } catch {
    return {
      kind: 'other',
      problem: `${text.trimStart().startsWith('<') ? 'markup' : 'text'} of ${text.length} characters that is not JSON`,
    };
  }
}

/** The description of a media type in a response, by exact name or range. */
export function mediaFor(response: OperationResponse, mediaType: string): MediaType | undefined {
  const range = `${mediaType.split('/', 1)[0] ?? ''}/*`;
  return response.content[mediaType] ?? response.content[range] ?? response.content['*/*'];
}

/**
 * The described JSON of a response: under a JSON type, else under a range such as `*`/`*`, which Spring writes by default. A body is compared with
 * the former even if it has another content type.
 */
export function jsonOf(response: OperationResponse): MediaType | undefined {
  for (const [type, media] of Object.entries(response.content)) if (isJsonType(type)) return media;
  for (const range of ['application/*', '*/*']) {
    const media = response.content[range];
    if (media?.pointer !== undefined) return media;
  }
  return undefined;
}

/** Whether the JSON of a response is described only under a range of media types, which includes others. */
export function isOnlyInRange({ content }: OperationResponse): boolean {
  return !Object.keys(content).some(isJsonType);
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
