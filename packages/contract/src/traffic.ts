import type { Answer } from './answer.ts';
import type { OpenApiDocument } from './document.ts';
import { OF_HTTP } from './http-headers.ts';
import { maskedBody, maskedForm, maskedUrl } from './mask-answer.ts';
import { responseFor } from './operations.ts';
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

/** Names of headers that carry what opens something. */
const SECRET_HEADER = /auth|cookie|credential|idempotency-key$|key$|password|secret|session|token/;

/** Writes an exchange down without its secrets. */
export function recordExchange(document: OpenApiDocument, answer: Answer): RecordedExchange {
  const { operation, sent, status, headers, mediaType, body, milliseconds } = answer;
  const key = operation.security?.in === 'header' ? operation.security.name.toLowerCase() : undefined;
  const described = sent.purpose === 'method' ? undefined : responseFor(operation, status)?.headers;
  function masked(all: Readonly<Record<string, string>>, isShown: (name: string) => boolean): Record<string, string> {
    return Object.fromEntries(
      Object.entries(all).map(([name, value]) => [name, name === key || SECRET_HEADER.test(name) || !isShown(name) ? MASK : value]),
    );
  }
  return {
    operation: operation.id,
    purpose: sent.purpose,
    detail: sent.detail,
    at: sent.at,
    milliseconds: Math.round(milliseconds * 1_000) / 1_000,
    method: sent.method,
    url: maskedUrl(document, answer),
    requestHeaders: masked(sent.headers, () => true),
    requestBody: maskedForm(document, answer),
    status,
    responseHeaders: masked(headers, (name) => OF_HTTP.test(name) || described?.[name] !== undefined),
    contentType: mediaType,
    responseBody:
      body.kind === 'json'
        ? (JSON.stringify(maskedBody(document, answer)) ?? '')
        : body.kind === 'empty'
          ? ''
          : `(${body.problem}; not written down)`,
  };
}
