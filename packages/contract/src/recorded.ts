import type { Har } from 'har-format';
import { PURPOSES, readAnswer, type Answer, type Purpose, type Sent } from './answer.ts';
import { CHECKS } from './checks.ts';
import { parseDocument, type OpenApiDocument } from './document.ts';
import type { Extension } from './extension.ts';
import { isObject } from './json.ts';
import { createMatcher, type Matcher } from './match.ts';
import { NO_BUDGET } from './price.ts';
import { readOperations } from './operations.ts';
import { buildReport, type Report } from './report.ts';
import { CREATOR } from './report/har.ts';
import { createValidator } from './validator.ts';

/** One request and its answer that went by, as they were on the wire. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: string | undefined;
  readonly at: string;
  readonly status: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly milliseconds: number;
  /** Why it was sent, where this program recorded it itself; such requests are not judged, as some are wrong on purpose. */
  readonly purpose?: Purpose | undefined;
}

/** The HAR file cannot be used; the message says why. */
export class HarError extends Error {
  override readonly name = 'HarError';
}

/** Judges traffic that others made. */
export interface Recorder {
  /** Takes an exchange; undefined where the document has no such operation. */
  take(seen: Seen): Answer | undefined;
  /** What all that was taken comes to. `target` stands in the report. */
  report(target: URL): Report;
  /** How many exchanges were of no operation. */
  readonly foreign: () => number;
}

/** A recorder for the operations of a document. */
export function createRecorder(input: OpenApiDocument, extensions: readonly Extension[] = []): Recorder {
  const checks = [...CHECKS, ...extensions.flatMap((extension) => extension.checks)];
  const document = parseDocument(input);
  const operations = readOperations(document);
  const validator = createValidator(document, true);
  const match = createMatcher(operations);
  const secrets = new Set<string>();
  const answers: Answer[] = [];
  const begun = performance.now();
  let foreign = 0;
  return {
    foreign: () => foreign,
    take(seen) {
      const found = matchAnywhere(match, seen);
      if (found === undefined) {
        foreign++;
        return undefined;
      }
      const header = found.security?.header.toLowerCase();
      const key = header === undefined ? undefined : seen.requestHeaders[header];
      if (key !== undefined) secrets.add(key);
      const { method, url, requestHeaders, requestBody, at } = seen;
      const { purpose = 'traffic' } = seen;
      const credential = purpose === 'wrong-key' ? 'wrong' : header === undefined || key !== undefined ? 'account' : 'none';
      const sent: Sent = { method, url, headers: requestHeaders, body: requestBody, credential, purpose, detail: '', at };
      const answer = readAnswer(found, sent, {
        status: seen.status,
        headers: seen.responseHeaders,
        bytes: seen.bytes,
        milliseconds: seen.milliseconds,
      });
      answers.push(answer);
      return answer;
    },
    report: (target) =>
      buildReport({
        document,
        operations,
        validator,
        answers,
        pairs: [],
        unpaired: [],
        checks,
        plan: { steps: [], withheld: new Map() },
        reasons: new Map(),
        left: [],
        spent: NO_BUDGET,
        mode: 'recorded',
        seed: 1,
        target,
        secrets: [...secrets],
        milliseconds: performance.now() - begun,
      }),
  };
}

/** The operation of a request, whatever base address stands before its path. */
function matchAnywhere(match: Matcher, { method, url }: Seen): Answer['operation'] | undefined {
  const segments = new URL(url).pathname.split('/').slice(1);
  for (let skipped = 0; skipped < segments.length; skipped++) {
    const found = match(method, `/${segments.slice(skipped).join('/')}`);
    if (found !== undefined) return found.operation;
  }
  return undefined;
}

/**
 * The exchanges of a HAR file.
 * @throws {HarError} when it is not one
 */
export function readHar(text: string): readonly Seen[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new HarError('The HAR file is not JSON.', { cause: error });
  }
  if (!isHar(value)) throw new HarError('The file is not HAR: it has no log with entries.');
  // Entries that were blocked or cut off have no answer to judge.
  return value.log.entries
    .filter(({ request, response }) => isObject(request) && response.status > 0 && URL.canParse(request.url))
    .map((entry) => seenOf(entry, value.log.creator?.name === CREATOR ? purposeIn(entry.comment ?? '') : undefined));
}

function isHar(value: unknown): value is Har {
  return isObject(value) && isObject(value['log']) && Array.isArray(value['log']['entries']);
}

/** The purpose in the comment of an entry that this program wrote. */
function purposeIn(comment: string): Purpose | undefined {
  const words = new Set(comment.split(' '));
  return PURPOSES.find((purpose) => words.has(purpose));
}

function seenOf({ request, response, startedDateTime, time }: Har['log']['entries'][number], purpose: Purpose | undefined): Seen {
  const { text = '', encoding } = response.content;
  return {
    method: request.method.toUpperCase(),
    url: request.url,
    requestHeaders: headersOf(request.headers),
    requestBody: request.postData?.text,
    at: startedDateTime,
    status: response.status,
    responseHeaders: { 'content-type': response.content.mimeType, ...headersOf(response.headers) },
    bytes: encoding === 'base64' ? Buffer.from(text, 'base64') : Buffer.from(text),
    milliseconds: time,
    purpose,
  };
}

function headersOf(headers: Har['log']['entries'][number]['request']['headers']): Readonly<Record<string, string>> {
  // Names such as `:authority` are of HTTP/2 and no headers.
  return Object.fromEntries(headers.filter(({ name }) => !name.startsWith(':')).map(({ name, value }) => [name.toLowerCase(), value]));
}
