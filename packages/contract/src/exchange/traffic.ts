import type { OpenApiDocument } from '../document/document.ts';
import { responseFor } from '../document/operations.ts';
import { MASK } from '../document/secrets.ts';
import type { Exchange } from './exchange.ts';
import { HTTP_HEADERS } from './http-headers.ts';
import { isSecretHeader, isSecretParameter, maskedBody, maskedForm, maskedHeaders, maskedUrl } from './mask-exchange.ts';

/** An exchange without secrets, for reports. */
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
  /** JSON with secrets masked, or a description of the body. */
  readonly responseBody: string;
}

/** A longer body is not recorded, so that a report can be opened; nor is one after these many characters in all. */
const MAX_BODY_LENGTH = 100_000;
const MAX_BODIES_LENGTH = 20_000_000;
const LEFT_OUT = /^\(\d+ characters; not recorded\)$/;

/** Leaves out bodies that would make a report too large. */
export function withinLimits(traffic: readonly RecordedExchange[]): readonly RecordedExchange[] {
  let rest = MAX_BODIES_LENGTH;
  return traffic.map((exchange) => {
    const { length } = exchange.responseBody;
    if (length > Math.min(MAX_BODY_LENGTH, rest)) return { ...exchange, responseBody: `(${length} characters; not recorded)` };
    rest -= length;
    return exchange;
  });
}

/** Whether a recorded body was left out because of its length, so that it cannot be judged again. */
export function isLeftOut(body: string): boolean {
  return LEFT_OUT.test(body);
}

/** Removes the secrets of an exchange. */
export function recordExchange(document: OpenApiDocument, exchange: Exchange): RecordedExchange {
  const { operation, sent, status, headers, mediaType, body, milliseconds } = exchange;
  const described = sent.purpose === 'method' ? undefined : responseFor(operation, status)?.headers;
  function isShown(name: string, value: string): boolean {
    const header = described?.[name];
    if (isSecretHeader(operation, name, value) || (header !== undefined && isSecretParameter(document, header))) return false;
    return HTTP_HEADERS.test(name) || header !== undefined;
  }
  return {
    operation: operation.id,
    purpose: sent.purpose,
    detail: sent.detail,
    at: sent.at,
    milliseconds: Math.round(milliseconds * 1_000) / 1_000,
    method: sent.method,
    url: maskedUrl(document, exchange),
    requestHeaders: maskedHeaders(document, exchange),
    requestBody: maskedForm(document, exchange),
    status,
    responseHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isShown(name, value) ? value : MASK])),
    contentType: mediaType,
    responseBody:
      body.kind === 'json'
        ? (JSON.stringify(maskedBody(document, exchange)) ?? '')
        : body.kind === 'empty'
          ? ''
          : `(${body.problem}; not recorded)`,
  };
}
