/** Responses of the operator API: JSON, or a problem (RFC 9457). */
import { classifyForeign, classOf, isRecord, isRedirect, isTransient, parseJson, retryAfterMs } from '@reseller/client/runtime';
import type { Received, Verdict } from '@reseller/client/runtime';

import type { Problem, ValidationProblem } from '../generated/types.gen.ts';

export function classifyProblem(received: Received): Verdict {
  const { status, headers, text } = received;
  const json = parseJson(text);
  if (isRedirect(status)) return classifyForeign(received);
  if (status < 300) {
    const isFromApi = text === '' || json !== undefined;
    return isFromApi ? { kind: 'success', data: dataOf(text), requestID: null, message: '' } : classifyForeign(received);
  }
  if (!isProblem(json)) return classifyForeign(received);
  const isUnknown = status >= 500 && status !== 501 && status !== 503;
  return {
    kind: 'failure',
    source: 'api',
    carriedOut: isUnknown ? 'unknown' : 'no',
    // The API has no idempotency keys, so a refusal says nothing about an earlier attempt.
    settles: false,
    transient: isTransient(status),
    retryAfterMs: retryAfterMs(headers),
    error: {
      Class: classOf(status),
      message: messageOf(json),
      details: { status, type: json.type, requestID: json.instance.replace('urn:uuid:', ''), fields: fieldsOf(json) },
      cause: json,
    },
  };
}

/** The generated signatures say what it is. */
function dataOf(json: string): never {
  const { data }: { data: never } = JSON.parse(json === '' ? '{}' : `{"data":${json}}`);
  return data;
}

function isProblem(json: unknown): json is Problem | ValidationProblem {
  return isRecord(json) && ['type', 'title', 'detail', 'instance'].every((name) => typeof json[name] === 'string');
}

/** Title and detail, and each broken rule on a line of its own. */
function messageOf(problem: Problem | ValidationProblem): string {
  const rules = brokenRules(problem).map(({ pointer, detail }) => `${pointer} ${detail}`);
  return [`${problem.title} (${problem.status}): ${problem.detail}`, ...rules].join('\n');
}

function fieldsOf(problem: Problem | ValidationProblem) {
  const rules = brokenRules(problem);
  return rules.length === 0 ? undefined : rules.map(({ pointer, detail }) => ({ field: pointer, rule: 'invalid', message: detail }));
}

function brokenRules(problem: Problem | ValidationProblem) {
  return 'errors' in problem ? problem.errors : [];
}
