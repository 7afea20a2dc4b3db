/** Rules of HTTP that both APIs keep: which requests are refused before a route is looked for, and what a parser error means. */
import type { IncomingMessage } from 'node:http';

/** What is wrong with a request as HTTP; the names are those of problems in the operator API. */
export type ProtocolFaultKind =
  | 'malformed-request'
  | 'request-timeout'
  | 'payload-too-large'
  | 'uri-too-long'
  | 'unsupported-media-type'
  | 'headers-too-large'
  | 'http-version-not-supported';

export interface ProtocolFault {
  readonly kind: ProtocolFaultKind;
  /** What was wrong, what was expected and what to do. */
  readonly message: string;
}

/** Bytes of a request target; RFC 9110 asks servers to take at least 8,000. */
export const MAX_URL_LENGTH = 8_192;
/** Bytes of the request line and all headers together. */
export const MAX_HEADERS_LENGTH = 16_384;

/** Headers whose repetition makes a request ambiguous: Node keeps the first value of most of them and drops the others. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set(['host', 'content-type', 'content-encoding', 'authorization']);
const CHARSET = /;\s*charset\s*=\s*(?:"(?<quoted>[^"]*)"|(?<plain>[^;\s]*))/gi;
const UTF_8 = /^utf-?8$/i;
const METHOD_AND_TARGET = /^[!-~]+ [!-~\u0080-\uffff]+$/;

export const MALFORMED: ProtocolFault = {
  kind: 'malformed-request',
  message: 'The request could not be read as HTTP. Percent-encode its path, and send well-formed headers and a correct Content-Length.',
};

export const URL_TOO_LONG: ProtocolFault = {
  kind: 'uri-too-long',
  message: `The path of the request is too long. A URL may have ${MAX_URL_LENGTH} bytes, and each segment of its path 1024.`,
};

const HEADERS_TOO_LARGE: ProtocolFault = {
  kind: 'headers-too-large',
  message: `The headers of the request are longer than ${MAX_HEADERS_LENGTH} bytes. Send fewer or shorter ones.`,
};

const WRONG_VERSION: ProtocolFault = {
  kind: 'http-version-not-supported',
  message: 'This version of HTTP is not supported here. Send the request as HTTP/1.1.',
};

/** What a request that Node could parse still does against HTTP, or against what this service reads; undefined for nothing. */
export function protocolFault({ httpVersion, url = '', headers, rawHeaders }: IncomingMessage): ProtocolFault | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return WRONG_VERSION;
  if (url.length > MAX_URL_LENGTH) return URL_TOO_LONG;
  const repeated = repeatedHeader(rawHeaders);
  if (repeated !== undefined) return malformed(`The header ${repeated} is there more than once. Send it once.`);
  if (httpVersion === '1.1' && headers.host === undefined)
    return malformed('The header Host is missing. Send the host that the URL names.');
  const { 'transfer-encoding': transfer, 'content-encoding': content, 'content-type': type } = headers;
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked')
    return malformed('The Transfer-Encoding of the request is not supported. Send the body as chunked, or with a Content-Length.');
  if (content !== undefined && content.toLowerCase() !== 'identity')
    return unsupported('The Content-Encoding of the body is not supported. Send the body without compression.');
  if (type !== undefined && hasOtherCharset(type)) return unsupported('The charset of the body is not supported. Send the body in UTF-8.');
  return undefined;
}

/** What an error of Node's parser or of its timers is to the caller. */
export function parserFault(error: NodeJS.ErrnoException): ProtocolFault {
  const { code } = error;
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      // Node does not say which part was too long: it is the URL where the request line has no end within the limit.
      return METHOD_AND_TARGET.test(lastPacketOf(error)) ? URL_TOO_LONG : HEADERS_TOO_LARGE;
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { kind: 'payload-too-large', message: 'The extensions of the chunks are too long. Send the body without chunk extensions.' };
    case 'HPE_INVALID_VERSION':
    case 'HPE_PAUSED_H2_UPGRADE':
      return WRONG_VERSION;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { kind: 'request-timeout', message: 'The request did not arrive in time. Send it again, without pauses.' };
    default:
      return MALFORMED;
  }
}

/** The beginning of what the parser was given last. */
function lastPacketOf(error: Error): string {
  const bytes = 'rawPacket' in error && error.rawPacket instanceof Uint8Array ? error.rawPacket : new Uint8Array();
  return Buffer.from(bytes.subarray(0, MAX_HEADERS_LENGTH)).toString('latin1');
}

function malformed(message: string): ProtocolFault {
  return { kind: 'malformed-request', message };
}

function unsupported(message: string): ProtocolFault {
  return { kind: 'unsupported-media-type', message };
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
  for (const { groups } of contentType.matchAll(CHARSET)) {
    if (!UTF_8.test(groups?.['quoted'] ?? groups?.['plain'] ?? '')) return true;
  }
  return false;
}
