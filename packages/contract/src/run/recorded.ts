import type { Har } from 'har-format';

import type { OpenApiDocument } from '../document/document.ts';
import { withBody } from '../document/form-fields.ts';
import { isObject } from '../document/json.ts';
import { createMatcher } from '../document/match.ts';
import type { Matcher } from '../document/match.ts';
import { UNDESCRIBED } from '../document/operation.ts';
import type { Operation } from '../document/operation.ts';
import { pathPattern } from '../document/path-template.ts';
import { parentPointer } from '../document/pointer.ts';
import { credentialOf, secretsOfCredential } from '../exchange/credential.ts';
import { PURPOSES, readExchange } from '../exchange/exchange.ts';
import type { Exchange, Purpose, SentRequest } from '../exchange/exchange.ts';
import { isLeftOut } from '../exchange/traffic.ts';
import { checksWith } from '../judge/checks.ts';
import { readUsable } from '../judge/usable.ts';
import { CREATOR } from '../report/har.ts';
import { buildReport } from '../report/report.ts';
import type { Report } from '../report/report.ts';
import type { Extension } from './extension.ts';
import { NO_BUDGET } from './price.ts';

/** A recorded request and its response, before parsing. */
export interface RawExchange {
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: string | undefined;
  readonly at: string;
  readonly status: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly milliseconds: number;
  /** The purpose of a request of this program. Such requests are not judged, because some are invalid on purpose. */
  readonly purpose?: Purpose | undefined;
}

/** The HAR file is unusable; the message says why. */
export class HarError extends Error {
  override readonly name = 'HarError';
}

/** Judges the traffic of other programs. */
export interface Recorder {
  /** Adds an exchange. Returns undefined when the document does not have the operation. */
  take(seen: RawExchange): Exchange | undefined;
  /** Returns the report on all exchanges. */
  report(target: URL): Report;
  /** The number of exchanges that match no operation. */
  readonly foreign: () => number;
}

export function createRecorder(input: OpenApiDocument, extensions: readonly Extension[] = []): Recorder {
  const checks = checksWith(extensions.flatMap((extension) => extension.checks));
  const usable = readUsable(input);
  const { operations } = usable;
  for (const operation of operations) usable.prepare(operation, 'references');
  const match = createMatcher(operations);
  const secrets = new Set<string>();
  const exchanges: Exchange[] = [];
  const begun = performance.now();
  const foreign: Exchange[] = [];
  return {
    foreign: () => foreign.length,
    take(seen) {
      const { operation: found = foreignOperation(operations, seen), isForeign } = operationOf(match, seen);
      const operation = withBody(found, seen.requestHeaders['content-type'] ?? '');
      if (!isForeign && !usable.prepare(operation, 'parameters', 'body', 'responses')) return undefined;
      const exchange = exchangeOf(operation, seen);
      for (const key of operation.security?.keys ?? []) {
        const credential = credentialOf(key, exchange.sent) ?? '';
        if (credential !== '') for (const secret of [credential, ...secretsOfCredential(key, credential)]) secrets.add(secret);
      }
      (isForeign ? foreign : exchanges).push(exchange);
      return isForeign ? undefined : exchange;
    },
    report: (target) =>
      buildReport({
        ...usable,
        notes: usable.notes(),
        exchanges,
        foreign: foreignCalls(foreign, exchanges),
        checks,
        reasons: new Map(),
        left: [],
        unfinished: [],
        spent: NO_BUDGET,
        mode: 'recorded',
        seed: 1,
        target,
        secrets: [...secrets],
        milliseconds: performance.now() - begun,
      }),
  };
}

function exchangeOf(operation: Operation, seen: RawExchange): Exchange {
  const { method, url, requestHeaders, requestBody, at, status, responseHeaders, bytes, milliseconds, purpose = 'traffic' } = seen;
  const { security } = operation;
  const hasCredential = (security?.keys ?? []).every((key) => credentialOf(key, { url, headers: requestHeaders }) !== undefined);
  const credential = purpose === 'wrong-key' ? 'wrong' : hasCredential ? 'account' : 'none';
  const sent: SentRequest = { method, url, headers: requestHeaders, body: requestBody, credential, purpose, detail: '', at };
  return readExchange(operation, sent, { status, headers: responseHeaders, bytes, milliseconds });
}

/** Finds the operation of a request, whatever the path of the base address. */
function operationOf(
  match: Matcher,
  { method, url }: RawExchange,
): { readonly operation: Operation | undefined; readonly isForeign: boolean } {
  const segments = new URL(url).pathname.split('/').slice(1);
  for (let skipped = 0; skipped < segments.length; skipped++) {
    const found = match(method, `/${segments.slice(skipped).join('/')}`);
    if (found !== undefined) return { operation: found.operation, isForeign: false };
  }
  return { operation: undefined, isForeign: true };
}

/** Unmatched requests to an origin of the API, without CORS preflights, images, fonts and style sheets. */
function foreignCalls(foreign: readonly Exchange[], exchanges: readonly Exchange[]): readonly Exchange[] {
  const origins = new Set(exchanges.map(({ sent }) => new URL(sent.url).origin));
  return foreign.filter(
    ({ sent, mediaType }) =>
      origins.has(new URL(sent.url).origin) &&
      sent.purpose === 'traffic' &&
      sent.method !== 'OPTIONS' &&
      !/^(?:image|font|text\/css)/.test(mediaType),
  );
}

/** A placeholder for an operation that the document does not have. */
function foreignOperation(operations: readonly Operation[], { method, url }: RawExchange): Operation {
  const { pathname } = new URL(url);
  // For an undescribed method, uses the described path.
  const described = operations.find(
    ({ path }) => pathname.endsWith('/') === false && new RegExp(`${pathPattern(path).source.slice(1)}`).test(pathname),
  );
  const path = described?.path ?? withoutIdentifiers(pathname);
  return {
    ...UNDESCRIBED,
    id: `${method} ${path}`,
    method,
    path,
    pointer: described === undefined ? '/paths' : parentPointer(described.pointer),
    readOnly: true,
    retry: 'safe',
    security: described?.security ?? operations.find(({ security }) => security !== undefined)?.security,
  };
}

/** Replaces segments that could be identifiers or secrets by `{…}`, that is all except plain words. */
function withoutIdentifiers(path: string): string {
  return path
    .split('/')
    .map((segment) => (/^[a-z][a-z_.-]{0,30}$|^v[0-9]+$|^$/i.test(segment) ? segment : '{…}'))
    .join('/');
}

/**
 * Reads the exchanges of a HAR file.
 * @throws {HarError} when it is not a HAR file
 */
export function readHar(text: string): readonly RawExchange[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new HarError('The HAR file is not JSON.', { cause: error });
  }
  if (!isHar(value)) throw new HarError('The file is not HAR: it has no log with entries.');
  // Blocked and aborted entries have no response.
  return value.log.entries
    .filter(({ request, response }) => isObject(request) && response.status > 0 && URL.canParse(request.url))
    .filter(({ response }) => value.log.creator?.name !== CREATOR || !isLeftOut(response.content.text ?? ''))
    .map((entry) => seenOf(entry, value.log.creator?.name === CREATOR ? purposeIn(entry.comment ?? '') : undefined));
}

function isHar(value: unknown): value is Har {
  return isObject(value) && isObject(value['log']) && Array.isArray(value['log']['entries']);
}

/** Reads the purpose from the comment of an entry that this program wrote. */
function purposeIn(comment: string): Purpose | undefined {
  const words = new Set(comment.split(' '));
  return PURPOSES.find((purpose) => words.has(purpose));
}

function seenOf({ request, response, startedDateTime, time }: Har['log']['entries'][number], purpose: Purpose | undefined): RawExchange {
  const { text = '', encoding } = response.content;
  return {
    method: request.method.toUpperCase(),
    url: request.url,
    requestHeaders: headersByName(request.headers),
    requestBody: request.postData?.text,
    at: startedDateTime,
    status: response.status,
    responseHeaders: { 'content-type': response.content.mimeType, ...headersByName(response.headers) },
    bytes: encoding === 'base64' ? Buffer.from(text, 'base64') : Buffer.from(text),
    milliseconds: time,
    purpose,
  };
}

function headersByName(headers: Har['log']['entries'][number]['request']['headers']): Readonly<Record<string, string>> {
  // HTTP/2 pseudo-headers such as `:authority` are not headers.
  return Object.fromEntries(headers.filter(({ name }) => !name.startsWith(':')).map(({ name, value }) => [name.toLowerCase(), value]));
}
