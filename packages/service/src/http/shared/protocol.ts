/** Rules of HTTP that apply to both APIs. A request that breaks one reaches no operation. */
import type { IncomingMessage } from 'node:http';

import { isError } from '@reseller/contract/is-error';

/** The kinds of broken requests. The names are those of problem types in the operator API. */
export type FaultKind =
  | 'malformed-request'
  | 'not-found'
  | 'method-not-allowed'
  | 'request-timeout'
  | 'payload-too-large'
  | 'uri-too-long'
  | 'unsupported-media-type'
  | 'headers-too-large'
  | 'http-version-not-supported';

/** A request that breaks a rule of HTTP, or that has no route. */
export class RequestFault extends Error {
  override readonly name = 'RequestFault';
  readonly kind: FaultKind;

  /** @param message What was wrong, what was expected and what to do. */
  constructor(kind: FaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Bytes of a request target. RFC 9110 recommends at least 8,000. */
export const MAX_URL_LENGTH = 8_192;
/** Bytes of the request line and all headers. */
export const MAX_HEADERS_LENGTH = 16_384;

/** Headers that are ambiguous when repeated. For most of them, Node keeps the first value only. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set(['host', 'content-type', 'content-encoding', 'authorization']);
const CHARSET = /;\s*charset\s*=\s*(?:"(?<quoted>[^"]*)"|(?<plain>[^;\s]*))/gi;
const UTF_8 = /^utf-?8$/i;
const METHOD_AND_TARGET = /^[!-~]+ [!-~\u0080-\uffff]+$/;

function unreadable(): RequestFault {
  return malformedRequest(
    'The request could not be read as HTTP. Percent-encode its path, and send well-formed headers and a correct Content-Length.',
  );
}

function urlTooLong(): RequestFault {
  return new RequestFault(
    'uri-too-long',
    `The path of the request is too long. A URL may have ${MAX_URL_LENGTH} bytes, and each segment of its path 1024.`,
  );
}

function headersTooLarge(): RequestFault {
  return new RequestFault(
    'headers-too-large',
    `The headers of the request are longer than ${MAX_HEADERS_LENGTH} bytes. Send fewer or shorter ones.`,
  );
}

function wrongVersion(): RequestFault {
  return new RequestFault('http-version-not-supported', 'This version of HTTP is not supported here. Send the request as HTTP/1.1.');
}

/** Finds a fault in a request that Node could parse. */
export function protocolFault({ httpVersion, url = '', headers, rawHeaders }: IncomingMessage): RequestFault | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return wrongVersion();
  if (url.length > MAX_URL_LENGTH) return urlTooLong();
  const repeated = repeatedHeader(rawHeaders);
  if (repeated !== undefined) return malformedRequest(`The header ${repeated} occurs more than once. Send it once.`);
  if (httpVersion === '1.1' && headers.host === undefined)
    return malformedRequest('The header Host is missing. Send the host that the URL names.');
  const { 'transfer-encoding': transfer, 'content-encoding': content, 'content-type': type } = headers;
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked')
    return malformedRequest('The Transfer-Encoding of the request is not supported. Send the body as chunked, or with a Content-Length.');
  if (content !== undefined && content.toLowerCase() !== 'identity')
    return unsupportedMediaType('The Content-Encoding of the body is not supported. Send the body without compression.');
  if (type !== undefined && hasOtherCharset(type))
    return unsupportedMediaType('The charset of the body is not supported. Send the body in UTF-8.');
  return undefined;
}

/** The fault for a path without a route, or for a method that the path does not take. */
export function routeFault(method: string, allowedMethods: readonly string[]): RequestFault {
  if (allowedMethods.length > 0)
    return new RequestFault('method-not-allowed', `This path does not take ${method}. Use ${allowedMethods.join(' or ')}.`);
  // CONNECT names a host, not a path.
  if (method === 'CONNECT')
    return new RequestFault('method-not-allowed', 'This path does not take CONNECT. Send the request to a path of the service.');
  return new RequestFault('not-found', 'There is no such path. Check it against the documentation. Paths do not end with a slash.');
}

/** What a server accepts as a body. */
export interface AcceptedBody {
  readonly type: string;
  readonly maxBytes: number;
}

/** The fault for an error of Fastify, or undefined for any other error. */
export function fastifyFault(error: unknown, { type, maxBytes }: AcceptedBody): RequestFault | undefined {
  switch (isError(error) && 'statusCode' in error ? error.statusCode : undefined) {
    case 400:
      return unreadable();
    case 413:
      return new RequestFault('payload-too-large', `The request body is longer than ${maxBytes} bytes. Send a shorter one.`);
    case 414:
      return urlTooLong();
    case 415:
      return unsupportedMediaType(`The Content-Type of the body is not supported. Send it as ${type}.`);
    default:
      return undefined;
  }
}

/** The fault for an error of Node's parser or of its timers. */
export function parserFault(error: NodeJS.ErrnoException): RequestFault {
  const { code } = error;
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      // Node does not say which part was too long. If the request line does not end within the limit, it is the URL.
      return METHOD_AND_TARGET.test(lastPacketOf(error)) ? urlTooLong() : headersTooLarge();
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new RequestFault('payload-too-large', 'The extensions of the chunks are too long. Send the body without chunk extensions.');
    case 'HPE_INVALID_VERSION':
    case 'HPE_PAUSED_H2_UPGRADE':
      return wrongVersion();
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RequestFault('request-timeout', 'The request did not arrive in time. Send it again, without pauses.');
    default:
      return unreadable();
  }
}

/** The start of the last bytes that the parser received. */
function lastPacketOf(error: Error): string {
  const bytes = 'rawPacket' in error && error.rawPacket instanceof Uint8Array ? error.rawPacket : new Uint8Array();
  return Buffer.from(bytes.subarray(0, MAX_HEADERS_LENGTH)).toString('latin1');
}

function malformedRequest(message: string): RequestFault {
  return new RequestFault('malformed-request', message);
}

function unsupportedMediaType(message: string): RequestFault {
  return new RequestFault('unsupported-media-type', message);
}

function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const lower = name.toLowerCase();
    if (!SINGLE_HEADERS.has(lower)) continue;
    if (seen.has(lower)) return name;
    seen.add(lower);
  }
  return undefined;
}

function hasOtherCharset(contentType: string): boolean {
  if (!contentType.includes(';')) return false;
  for (const { groups } of contentType.matchAll(CHARSET)) {
    if (!UTF_8.test(groups?.['quoted'] ?? groups?.['plain'] ?? '')) return true;
  }
  return false;
}
