import { isCreation, resourcesAt, undoOf } from '../document/creation.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import type { Operation, Security } from '../document/operation.ts';
import { fillPath } from '../document/path-template.ts';
import { joinPointer, lastToken } from '../document/pointer.ts';
import { MASK } from '../document/secrets.ts';
import { pathOf } from '../exchange/discover.ts';
import type { PathValues } from '../exchange/discover.ts';
import { isSuccess, jsonValue } from '../exchange/exchange.ts';
import type { Credential, Exchange } from '../exchange/exchange.ts';
import { maskedForm, maskedHeaders, maskedUrl } from '../exchange/mask-exchange.ts';
import { isMultipart } from '../form/multipart.ts';
import type { Assertion } from './assertion.ts';
import type { Judged } from './judge.ts';

/** The requests and the assertion of a test that shows one finding. Secrets are masked. */
export interface Replay {
  readonly requests: readonly ReplayRequest[];
  readonly assertion: Assertion;
  /** The removals of what the requests make, the last made first. */
  readonly undo: readonly (ReplayRequest & { readonly made: number })[];
  /** The operations that change something which the test does not make, and so must be named. */
  readonly named: readonly string[];
  /** Whether a request needs a value that is masked. */
  readonly isMasked: boolean;
}

export interface ReplayRequest {
  readonly operation: string;
  readonly method: string;
  /** The path with the query, after the base address. */
  readonly path: Text;
  readonly headers: Readonly<Record<string, Text>>;
  readonly body: string | undefined;
  readonly credential: Credential;
  readonly security: Security | undefined;
  /** The status that the run got. */
  readonly status: number;
}

/** A text with values from the responses to earlier requests, by their index. */
export type Text = readonly (string | { readonly response: number; readonly at: Source })[];

/** Where a response has a value: in its body, in a header, or in the last segment of the address in `Location`. */
export type Source = { readonly pointer: string } | { readonly header: 'etag' | 'location' };

/** The exchanges of a run in their order, with the resources that they made. */
export interface Story {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly exchanges: readonly Exchange[];
  readonly made: ReadonlyMap<Exchange, { readonly resource: string; readonly pathFor: (operation: Operation) => PathValues | undefined }>;
  /** The path of the base address. */
  readonly base: string;
}

const MAX_CANDIDATES = 20;

/** The shortest test of a finding, if possible without masked values and names of operations; else why there is none. */
export function replayOf(story: Story, group: readonly Judged[]): Replay | string {
  const untestable = group[0]?.check.untestable;
  if (untestable !== undefined) return untestable;
  const told = group.filter(({ remark }) => remark.assertion !== undefined).slice(0, MAX_CANDIDATES);
  const replays = told.map((judged) => replayFor(story, judged));
  const [best] = replays
    .filter((replay) => typeof replay !== 'string')
    .toSorted(
      (one, other) =>
        Number(one.isMasked) - Number(other.isMasked) ||
        one.named.length - other.named.length ||
        one.requests.length - other.requests.length,
    );
  return best ?? replays.find((replay) => typeof replay === 'string') ?? 'no rule of a single value says it';
}

function replayFor(story: Story, { exchange, remark: { assertion, shownBy = [exchange] } }: Judged): Replay | string {
  const needed = neededFor(story, shownBy);
  const unsent = needed.find(
    ({ operation, sent }) => sent.body !== undefined && operation.body !== undefined && isMultipart(operation.body),
  );
  if (assertion === undefined || unsent !== undefined) return 'it needs a file, which a test cannot contain';
  const requests = needed.map((one, index) => requestOf(story, one, needed.slice(0, index)));
  if (requests.some(({ body }) => body?.endsWith('; not recorded)') === true)) return 'it needs a body that the report does not record';
  const undo = needed.flatMap((one, index) => undoFor(story, needed, { maker: one, index }));
  const named = needed.filter((one) => needsName(story, one, needed)).map(({ operation }) => operation.id);
  return { requests, assertion, undo: undo.toReversed(), named: [...new Set(named)], isMasked: JSON.stringify(requests).includes(MASK) };
}

/** The exchanges with those on which they depend: what made their resources, and what changed these before. */
function neededFor(story: Story, shown: readonly Exchange[]): readonly Exchange[] {
  const needed = new Set<Exchange>();
  function need(exchange: Exchange): void {
    if (needed.has(exchange)) return;
    needed.add(exchange);
    const before = story.exchanges.slice(0, Math.max(0, story.exchanges.indexOf(exchange)));
    const maker = makerOf(story, exchange, before);
    if (maker !== undefined) need(maker);
    const since = maker === undefined ? before : before.slice(before.indexOf(maker) + 1);
    for (const other of since) if (isEarlierChange(story, other, exchange)) need(other);
  }
  for (const exchange of shown) need(exchange);
  return story.exchanges.filter((exchange) => needed.has(exchange));
}

/** The latest exchange that made the resource of another, or one above it. */
function makerOf({ made }: Story, { operation, sent }: Exchange, before: readonly Exchange[]): Exchange | undefined {
  const { pathname } = new URL(sent.url);
  if (!operation.path.includes('{')) return undefined;
  return before.findLast((other) => {
    const resource = made.get(other)?.resource;
    return resource !== undefined && `${pathname}/`.includes(`${resource}/`);
  });
}

/** Whether an exchange changed the resource that another is about. */
function isEarlierChange({ operations }: Story, { operation, sent, status }: Exchange, exchange: Exchange): boolean {
  const isChange = operation.path.includes('{') && !operation.readOnly && sent.method === operation.method && isSuccess(status);
  return isChange && !isCreation(operation, operations) && pathnameOf(sent.url) === pathnameOf(exchange.sent.url);
}

function pathnameOf(url: string): string {
  return new URL(url).pathname;
}

function requestOf(story: Story, exchange: Exchange, earlier: readonly Exchange[]): ReplayRequest {
  const { operation, sent, status } = exchange;
  const headers = maskedHeaders(story.document, exchange);
  const url = new URL(maskedUrl(story.document, exchange));
  for (const key of operation.security?.keys ?? []) if (key.in === 'query') url.searchParams.delete(key.name);
  const body = sent.method === 'GET' ? undefined : maskedForm(story.document, exchange);
  const { pathname, search } = url;
  const pages = { earlier, isPage: sent.purpose === 'next-page' };
  return {
    operation: operation.id,
    method: sent.method,
    path: linked(story, (pathname.startsWith(story.base) ? pathname.slice(story.base.length) : pathname) + search, pages),
    headers: Object.fromEntries(sentHeaders(operation, headers).map(([name, text]) => [name, linked(story, text, { earlier })])),
    body: body === '' ? undefined : body,
    credential: sent.credential,
    security: operation.security,
    status,
  };
}

/** The headers that a request needs, without its credentials. */
function sentHeaders(
  { parameters, security }: Operation,
  headers: Readonly<Record<string, string>>,
): readonly (readonly [string, string])[] {
  const described = new Set(parameters.filter((one) => one.in === 'header').map(({ name }) => name.toLowerCase()));
  const keys = security?.keys ?? [];
  const hasCookies = parameters.some((one) => one.in === 'cookie') && !keys.some((key) => key.in === 'cookie');
  const own = new Set(keys.map((key) => key.in === 'header' && key.name.toLowerCase()));
  return Object.entries(headers).filter(
    ([name]) =>
      !own.has(name) && (name === 'accept' || name === 'content-type' || described.has(name) || (hasCookies && name === 'cookie')),
  );
}

interface Known {
  readonly earlier: readonly Exchange[];
  /** Whether the request is for the page after an earlier one. */
  readonly isPage?: boolean;
}

/** Replaces what earlier responses gave by a reference to them: identifiers of what they made, entity tags and cursors. */
function linked(story: Story, text: string, known: Known): Text {
  const whole = sourceOf(story, text, known);
  if (whole !== undefined) return [whole];
  return text.split(/([/?&=])/).flatMap((part) => (part === '' ? [] : (sourceOf(story, decoded(part), known) ?? part)));
}

function decoded(text: string): string {
  return URL.canParse(`x:?=${text}`) ? (new URLSearchParams(`=${text}`).get('') ?? text) : text;
}

function sourceOf({ made }: Story, value: string, { earlier, isPage = false }: Known): Exclude<Text[number], string> | undefined {
  for (const [response, exchange] of earlier.entries()) {
    if (value !== '' && exchange.headers['etag'] === value) return { response, at: { header: 'etag' } };
    const resource = made.get(exchange)?.resource;
    const isGiven =
      resource?.endsWith(`/${encodeURIComponent(value)}`) === true || exchange.headers['location']?.endsWith(`/${value}`) === true;
    const at = isGiven || (isPage && Number.isNaN(Number(value))) ? placeOf(exchange, value) : undefined;
    if (at !== undefined) return { response, at };
  }
  return undefined;
}

/** Where a response has an identifier. Names such as `id` come first, because other values can be the same. */
function placeOf(exchange: Exchange, value: string): Source | undefined {
  const places = pointersTo(jsonValue(exchange), value, '');
  const pointer = places.find((one) => /id(?:entifier)?$/i.test(lastToken(one))) ?? places[0];
  if (pointer !== undefined) return { pointer };
  return exchange.headers['location']?.endsWith(`/${encodeURIComponent(value)}`) === true ? { header: 'location' } : undefined;
}

function pointersTo(body: unknown, value: string, pointer: string): readonly string[] {
  if (Array.isArray(body)) return body.flatMap((item, index) => pointersTo(item, value, joinPointer(pointer, index)));
  if (isObject(body)) return Object.entries(body).flatMap(([name, item]) => pointersTo(item, value, joinPointer(pointer, name)));
  return body !== null && String(body) === value ? [pointer] : [];
}

/** The removal of what a request makes, unless a later request removes it. A refused creation may succeed in another run. */
function undoFor(
  story: Story,
  needed: readonly Exchange[],
  { maker, index }: { readonly maker: Exchange; readonly index: number },
): Replay['undo'] {
  const { operations, made } = story;
  const undo = isCreation(maker.operation, operations) ? undoOf(maker.operation, operations) : undefined;
  const example = made.has(maker) ? maker : [...made.keys()].find(({ operation }) => operation.id === maker.operation.id);
  const values = undo === undefined || example === undefined ? undefined : made.get(example)?.pathFor(undo);
  const id = Object.values(values ?? {}).at(-1);
  const at = id === undefined || example === undefined ? undefined : placeOf(example, id);
  if (undo === undefined || values === undefined || at === undefined) return [];
  const resource = resourcesAt(undo.path, values).at(-1);
  const isRemoved = needed.some((one) => one.operation.id === undo.id && resourcesAt(undo.path, pathOf(one)).at(-1) === resource);
  if (isRemoved) return [];
  const above = fillPath(undo.path, values).split(/(\/)/);
  const last = above.lastIndexOf(encodeURIComponent(id ?? ''));
  const path = above.flatMap((part, position): Text =>
    position === last ? [{ response: index, at }] : linked(story, part, { earlier: needed.slice(0, index) }),
  );
  return [
    {
      operation: undo.id,
      method: undo.method,
      path,
      headers: { accept: ['application/json'] },
      body: undefined,
      credential: 'account',
      security: undo.security,
      status: 200,
      made: index,
    },
  ];
}

/** Whether a request may change what the test does not make: then the user must name its operation, as for a run. */
function needsName(story: Story, exchange: Exchange, needed: readonly Exchange[]): boolean {
  const { operation, sent } = exchange;
  if (sent.method === 'GET' || (operation.readOnly && sent.method === operation.method)) return false;
  const index = needed.indexOf(exchange);
  if (makerOf(story, exchange, needed.slice(0, index)) !== undefined) return operation.billable;
  return operation.billable || undoFor(story, [], { maker: exchange, index }).length === 0;
}
