import type { Answer } from './answer.ts';
import type { OpenApiDocument } from './document.ts';
import { maskedBody, maskedForm } from './mask-answer.ts';
import { MASK } from './secrets.ts';

/** One request and its answer, as they may be written down. */
export interface RecordedExchange {
  readonly operation: string;
  readonly purpose: string;
  readonly detail: string;
  /** ISO 8601. */
  readonly at: string;
  readonly milliseconds: number;
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: string | undefined;
  readonly status: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly contentType: string;
  /** JSON with secrets masked, or a line on what the body was. */
  readonly responseBody: string;
}

const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'proxy-authorization',
  'www-authenticate',
  'idempotency-key',
]);

/** Writes an exchange down without its secrets. */
export function recordExchange(document: OpenApiDocument, answer: Answer): RecordedExchange {
  const { operation, sent, status, headers, mediaType, body, milliseconds } = answer;
  const key = operation.security?.header.toLowerCase();
  const masked = (all: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, name === key || SECRET_HEADERS.has(name) ? MASK : value]));
  return {
    operation: operation.id,
    purpose: sent.purpose,
    detail: sent.detail,
    at: sent.at,
    milliseconds: Math.round(milliseconds * 1_000) / 1_000,
    method: sent.method,
    url: sent.url,
    requestHeaders: masked(sent.headers),
    requestBody: maskedForm(document, answer),
    status,
    responseHeaders: masked(headers),
    contentType: mediaType,
    responseBody:
      body.kind === 'json'
        ? (JSON.stringify(maskedBody(document, answer)) ?? '')
        : body.kind === 'empty'
          ? ''
          : `(${body.problem}; not written down)`,
  };
}
