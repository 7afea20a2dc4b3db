import { randomUUID } from 'node:crypto';

import type { BrokenRule } from './broken-rules.ts';
import { isJson } from './prism-document.ts';

/** The `type` of an error envelope, by HTTP status. */
const types: Readonly<Record<number, string>> = {
  400: 'malformed_request',
  401: 'unauthorized',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'malformed_request',
};

/** The error envelope of the document as JSON text, for errors without an example. */
export function errorEnvelope(status: number, message: string): string {
  return JSON.stringify({
    status: 'error',
    type: types[status] ?? 'internal_error',
    requestID: randomUUID(),
    message,
    data: null,
  });
}

/** The envelope of a form that breaks rules, with the message of the service. */
export function validationEnvelope(rules: readonly BrokenRule[]): string {
  const broken = rules.map(({ field, message }) => `${field} ${message}`).join('; ');
  return JSON.stringify({
    status: 'error',
    type: 'validation_failed',
    requestID: randomUUID(),
    message: `The form breaks ${rules.length === 1 ? 'a rule' : 'rules'}: ${broken}.`,
    data: { fields: rules },
  });
}

/** The message of a response that Prism generated itself: the detail of its problem (RFC 9457), or its text. */
export function problemMessage(body: string): string {
  try {
    const problem: unknown = JSON.parse(body);
    if (isJson(problem)) return String(problem['detail'] || problem['title']);
  } catch {
    // Not JSON: the text is the message.
  }
  return body || 'The mock could not process this request.';
}
