/** Responses of the operator API: JSON, CSV, or a problem (RFC 9457). */
import { classifyForeign, classOf, isRecord, isRedirect, isRefusal, isTransient, parseJson } from '@reseller/client/runtime';
import type { Asked, Received, Verdict } from '@reseller/client/runtime';

import type { Problem, ValidationProblem } from '../generated/types.gen.ts';

/** A problem as it may arrive. Every member but the title may be missing (RFC 9457, section 3.1). */
type ReceivedProblem = Pick<Problem, 'title'> & Partial<Omit<Problem, 'title'> & Pick<ValidationProblem, 'errors'>>;

/** @param request.operation.has A property that the body of each successful response has. Undefined if the operation has no such body. */
export function classifyProblem(received: Received, { operation: { has } }: Asked): Verdict {
  const { status, headers, text } = received;
  const json = parseJson(text);
  if (isRedirect(status)) return classifyForeign(received);
  if (status < 300) {
    // Something between the client and the service removed the body, so a change may have been carried out.
    if (has !== undefined && !isRecord(json)) return classifyForeign(received, text === '' ? 'cut' : undefined);
    if (has !== undefined && !(has in Object(json))) return classifyForeign(received, 'other-data');
    const isCsv = headers.get('content-type')?.startsWith('text/csv') === true;
    const isFromApi = text === '' || json !== undefined || isCsv;
    return isFromApi ? { data: dataOf(isCsv ? JSON.stringify(text) : text), requestID: null, message: '' } : classifyForeign(received);
  }
  if (!isProblem(json)) return classifyForeign(received);
  return {
    // The API has no idempotency keys, so a refusal says nothing about an earlier attempt.
    notCarriedOut: isRefusal(status) ? 'attempt' : undefined,
    transient: isTransient(status),
    Class: classOf(status),
    message: messageOf(json, status),
    details: { status, headers, type: json.type, requestID: json.instance?.replace('urn:uuid:', ''), fields: fieldsOf(json) },
    cause: json,
  };
}

/** The generated signatures say what it is. */
function dataOf(json: string): never {
  const { data }: { data: never } = JSON.parse(json === '' ? '{}' : `{"data":${json}}`);
  return data;
}

function isProblem(json: unknown): json is ReceivedProblem {
  return isRecord(json) && typeof json['title'] === 'string';
}

/** Title and detail, and each broken rule on a separate line. */
function messageOf({ title, detail, errors = [] }: ReceivedProblem, status: number): string {
  const rules = errors.map((rule) => `${rule.pointer} ${rule.detail}`);
  return [`${title} (${status})${detail === undefined ? '' : `: ${detail}`}`, ...rules].join('\n');
}

function fieldsOf({ errors = [] }: ReceivedProblem) {
  return errors.length === 0 ? undefined : errors.map(({ pointer, detail }) => ({ field: pointer, rule: 'invalid', message: detail }));
}
