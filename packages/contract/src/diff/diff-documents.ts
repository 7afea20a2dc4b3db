import { parseDocument, resolve } from '../document/document.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { isObject, member } from '../document/json.ts';
import type { JsonObject } from '../document/json.ts';
import { isJsonType, mediaTypeName } from '../document/media-type.ts';
import type { Header, Operation, OperationResponse, Parameter } from '../document/operation.ts';
import { surveyOperations } from '../document/operations.ts';
import { pathParameters } from '../document/path-template.ts';
import { joinPointer, valueAt } from '../document/pointer.ts';
import { keysOf } from '../document/schema.ts';
import { IMPACTS, NOTHING_CHANGES, NOTHING_TO_DO, RECOMPILE } from './change.ts';
import type { Change, Documents, ReportChange } from './change.ts';
import { diffSchemas } from './diff-schemas.ts';
import type { Direction } from './diff-schemas.ts';
import { diffSecurity } from './diff-security.ts';
import { canonical, isEquivalent } from './shape.ts';

/**
 * Compares two documents and classifies each change by its effect on users. A change of a schema that several operations share is one
 * change. A change that cannot be classified is `uncompared`.
 */
export function diffDocuments(before: OpenApiDocument, after: OpenApiDocument): readonly Change[] {
  const changes = new Map<string, Change>();
  function reportFor(operation?: string): ReportChange {
    return (impact, place, what, client) => {
      const [at, isRemoved] = typeof place === 'string' ? [place, false] : [place.removed, true];
      const key = `${impact} ${at} ${what.split('.').at(-1)}`;
      const known = changes.get(key);
      if (known !== undefined && (operation === undefined || known.operations.includes(operation))) return;
      const operations = [...(known?.operations ?? []), ...(operation === undefined ? [] : [operation])];
      changes.set(key, { ...(known ?? { impact, what, client, at, isRemoved }), operations });
    };
  }
  const [were, are] = [surveyOperations(parseDocument(before)), surveyOperations(parseDocument(after))];
  for (const [was, is] of pairsOf(were.operations, are.operations)) {
    const report = reportFor(is?.id ?? was?.id);
    if (was === undefined) report('safe', is.pointer, `${is.method} ${is.path} is new`, `A new function ${is.id}.`);
    else if (is !== undefined) diffOperation({ before, after, report }, was, is);
    else {
      const client = `The function ${was.id} no longer exists; calls of earlier clients get 404 or 405.`;
      report('breaking', { removed: was.pointer }, `${was.method} ${was.path} is gone`, client);
    }
  }
  for (const { id, pointer, reason } of [...were.unreadable, ...are.unreadable])
    reportFor(id)('uncompared', pointer, `${id} cannot be read: ${reason}`, 'Fix the document, and compare again.');
  const report = reportFor();
  if (before.info.version !== after.info.version)
    report('documentation', '/info/version', `the version is ${after.info.version} instead of ${before.info.version}`, NOTHING_CHANGES);
  diffServers({ before, after, report }, '', '');
  diffUncompared({ before, after, report }, 'webhooks', '', '');
  return [...changes.values()].toSorted((one, other) => IMPACTS.indexOf(one.impact) - IMPACTS.indexOf(other.impact));
}

/** A method and a path without the names of its parameters, which requests do not contain. */
function addressOf({ method, path }: Operation): string {
  return `${method} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`;
}

/** Pairs operations with the same method and path, or else with the same id. */
function pairsOf(
  were: readonly Operation[],
  are: readonly Operation[],
): readonly (readonly [was: Operation, is: Operation | undefined] | readonly [was: undefined, is: Operation])[] {
  const left = new Set(are);
  function take(isMatch: (one: Operation) => boolean): Operation | undefined {
    const found = [...left].find(isMatch);
    if (found !== undefined) left.delete(found);
    return found;
  }
  const byAddress = were.map((was) => [was, take((is) => addressOf(is) === addressOf(was))] as const);
  const pairs = byAddress.map(([was, is]) => [was, is ?? take((other) => other.id === was.id)] as const);
  return [...pairs, ...[...left].map((is) => [undefined, is] as const)];
}

function diffOperation(documents: Documents, was: Operation, is: Operation): void {
  const { report } = documents;
  const at = is.pointer;
  if (addressOf(was) !== addressOf(is)) {
    const what = `it is ${is.method} ${is.path} instead of ${was.method} ${was.path}`;
    report('breaking', at, what, 'Existing clients call an address that no longer exists.');
  }
  if (was.id !== is.id)
    report('client-breaking', at, `it is called ${is.id} instead of ${was.id}`, `Code that calls ${was.id} ${RECOMPILE}`);
  if (!was.billable && is.billable) report('breaking', at, 'it costs money now', 'The same call has a price.');
  if (was.billable && !is.billable) report('safe', at, 'it no longer costs money', NOTHING_TO_DO);
  if (!was.destructive && is.destructive)
    report('breaking', at, 'it is destructive now', 'The same call removes what cannot be brought back.');
  if (was.destructive && !is.destructive) report('safe', at, 'it is no longer destructive', NOTHING_TO_DO);
  if (was.retry !== is.retry) {
    const what = `x-retry is ${is.retry} instead of ${was.retry}`;
    if (is.retry === 'safe') report('safe', at, what, 'The client retries it.');
    else report('client-breaking', at, what, 'The client no longer retries it: a lost response becomes an error.');
  }
  diffSecurity(documents, was, is);
  diffServers(documents, was.pointer, is.pointer);
  diffParameters(documents, was, is);
  diffBodies(documents, was, is);
  for (const status of new Set([...Object.keys(was.responses), ...Object.keys(is.responses)])) {
    const [old, now] = [was.responses[status], is.responses[status]];
    const isResult = /^[23]/.test(status) || status === 'default';
    if (old !== undefined && now !== undefined) diffResponse(documents, status, old, now);
    else if (now !== undefined) report('safe', now.holder, `the response ${status} is new`, 'Handle one more case.');
    else if (isResult) report('breaking', at, `the response ${status} is gone`, 'The result has another shape.');
    else report('safe', at, `the response ${status} is gone`, 'You have one case fewer to handle.');
  }
  diffTexts(documents, was, is);
  diffUncompared(documents, 'callbacks', was.pointer, is.pointer);
}

/** Server URLs of the whole document, or of one operation. */
function diffServers({ before, after, report }: Documents, was: string, is: string): void {
  function urls(document: OpenApiDocument, holder: string): ReadonlyMap<string, unknown> {
    const servers = valueAt(document, joinPointer(holder, 'servers'));
    return new Map(Array.isArray(servers) ? servers.map((server) => [canonical(server), Object(server).url]) : []);
  }
  const [old, now] = [urls(before, was), urls(after, is)];
  const at = joinPointer(is, 'servers');
  for (const [key, url] of old) {
    const what = `the server ${String(url)} is gone or has other variables`;
    if (!now.has(key)) report('breaking', now.size > 0 ? at : is, what, 'Reconfigure clients that call it.');
  }
  const isOverride = old.size === 0 && is !== '';
  for (const [key, url] of now)
    if (!old.has(key))
      report(isOverride ? 'breaking' : 'safe', at, `the server ${String(url)} is new`, 'Another server, which you may use.');
}

/** Pairs path parameters by position, because requests do not contain their names, and headers regardless of upper case. */
function diffParameters(documents: Documents, was: Operation, is: Operation): void {
  const { report } = documents;
  function keyed({ parameters, path }: Operation): ReadonlyMap<string, Parameter> {
    const names = pathParameters(path);
    function parameterKey({ in: place, name }: Parameter): string {
      return `${place} ${place === 'path' ? names.indexOf(name) : place === 'header' ? name.toLowerCase() : name}`;
    }
    return new Map(parameters.map((one) => [parameterKey(one), one]));
  }
  const [were, are] = [keyed(was), keyed(is)];
  for (const [key, old] of were) {
    const now = are.get(key);
    if (now !== undefined) diffParameter(documents, is, old, now);
    else {
      const client = 'Code that sends it does not compile after the next generation; the service ignores it.';
      report('client-breaking', is.pointer, `the parameter ${old.in} ${old.name} is gone`, client);
    }
  }
  for (const [key, { in: place, name, required }] of are) {
    if (were.has(key)) continue;
    if (required) report('breaking', is.pointer, `the parameter ${place} ${name} is new and required`, REFUSED);
    else report('safe', is.pointer, `the parameter ${place} ${name} is new`, 'A new parameter, which you may use.');
  }
}

const REFUSED = 'Calls that do not send it are refused.';

/** Compares whether a part of a request is required. */
function diffRequired(report: ReportChange, at: string, label: string, [was, is]: readonly [boolean, boolean]): void {
  if (!was && is) report('breaking', at, `${label} is required now`, REFUSED);
  if (was && !is) report('safe', at, `${label} is optional now`, NOTHING_TO_DO);
}

const REWRITTEN = 'The same value has to be written in another way.';

function diffParameter(documents: Documents, operation: Operation, old: Parameter, now: Parameter): void {
  const { before, after, report } = documents;
  const at = now.pointer ?? operation.pointer;
  const label = `the parameter ${now.in} ${now.name}`;
  if (old.name !== now.name) report('client-breaking', at, `${label} was called ${old.name}`, `Code that names it ${RECOMPILE}`);
  diffRequired(report, at, label, [old.required, now.required]);
  const [was, is] = [resolve(before, old.holder).value, resolve(after, now.holder).value];
  for (const keyword of ['style', 'explode', 'allowReserved', 'allowEmptyValue'] as const) {
    const [from, to] = [serialization(was, keyword), serialization(is, keyword)];
    if (from !== to) report('breaking', at, `${keyword} of ${label} is ${to} instead of ${from}`, REWRITTEN);
  }
  if (old.pointer !== undefined && now.pointer !== undefined)
    diffSchemas({ before, after, direction: 'request', report: withName(report, label) }, old.pointer, now.pointer);
  else if (old.pointer !== now.pointer || !isEquivalent([before, was['content']], [after, is['content']]))
    report('uncompared', at, `content of ${label} changed, but this program cannot compare it`, 'Read the change.');
}

/** A serialisation keyword of a parameter, with the default of OpenAPI. */
function serialization(parameter: JsonObject, keyword: string): string {
  const place = parameter['in'];
  const style = parameter['style'] ?? (place === 'query' || place === 'cookie' ? 'form' : 'simple');
  if (keyword === 'style') return String(style);
  if (keyword === 'explode') return String(parameter['explode'] ?? style === 'form');
  return String(parameter[keyword] ?? false);
}

function withName(report: ReportChange, name: string): ReportChange {
  return (impact, at, what, client) => report(impact, at, what.replace('the body', name), client);
}

function requestBodyOf(
  document: OpenApiDocument,
  operation: Operation,
): { readonly pointer: string; readonly required: boolean } | undefined {
  if (!isObject(member(resolve(document, operation.pointer).value, 'requestBody'))) return undefined;
  const { pointer, value } = resolve(document, joinPointer(operation.pointer, 'requestBody'));
  return { pointer, required: value['required'] === true };
}

function diffBodies(documents: Documents, was: Operation, is: Operation): void {
  const { before, after, report } = documents;
  const [old, now] = [requestBodyOf(before, was), requestBodyOf(after, is)];
  if (old === undefined && now === undefined) return;
  if (now === undefined) report('breaking', is.pointer, 'it no longer takes a body', 'The content of the body is refused or ignored.');
  else if (old === undefined && now.required)
    report('breaking', now.pointer, 'it takes a body, which is required now', 'Calls without it are refused.');
  else if (old === undefined) report('safe', now.pointer, 'it takes a body now', 'A new body, which you may send.');
  else {
    diffRequired(report, now.pointer, 'the body', [old.required, now.required]);
    diffContent(documents, 'request', { was: old.pointer, is: now.pointer, label: 'the body' });
  }
}

interface Contents {
  /** Pointers to the objects with `content`. */
  readonly was: string;
  readonly is: string;
  readonly label: string;
}

function diffContent(documents: Documents, direction: Direction, { was, is, label }: Contents): void {
  const { before, after, report } = documents;
  function types(document: OpenApiDocument, holder: string): ReadonlyMap<string, string> {
    return new Map(
      keysOf(resolve(document, holder).value, 'content').map((type) => [mediaTypeName(type), joinPointer(holder, 'content', type)]),
    );
  }
  const [old, now] = [types(before, was), types(after, is)];
  const client = direction === 'request' ? 'Requests of this type are refused.' : 'The client cannot read it.';
  for (const [type, holder] of old) {
    const other = now.get(type);
    const own = isJsonType(type) || old.size === 1 ? label : `${label} as ${type}`;
    if (other === undefined) report('breaking', is, `${label} can no longer be ${type}`, client);
    else diffMedia(documents, direction, { was: holder, is: other, label: own });
  }
  const isFirst = old.size === 0 && direction === 'response';
  for (const type of now.keys())
    if (!old.has(type)) report(isFirst ? 'breaking' : 'safe', is, `${label} can be ${type} now`, 'Another content type.');
}

function diffMedia({ before, after, report }: Documents, direction: Direction, { was, is, label }: Contents): void {
  const [old, now] = [resolve(before, was).value, resolve(after, is).value];
  const [had, has] = [old['schema'] !== undefined, now['schema'] !== undefined];
  const impact = has === (direction === 'request') ? 'breaking' : 'safe';
  if (had && has)
    diffSchemas({ before, after, direction, report: withName(report, label) }, joinPointer(was, 'schema'), joinPointer(is, 'schema'));
  else if (has) report(impact, is, `${label} has a schema now`, 'It must now match a schema.');
  else if (had) report(impact, is, `${label} no longer has a schema`, 'It can have any value.');
  if (!isEquivalent([before, old['encoding']], [after, now['encoding']])) report('breaking', is, `encoding of ${label} changed`, REWRITTEN);
}

function diffResponse(documents: Documents, status: string, old: OperationResponse, now: OperationResponse): void {
  const { before, after, report } = documents;
  const at = now.holder;
  diffContent(documents, 'response', { was: old.holder, is: at, label: `the body of the response ${status}` });
  for (const key of new Set([...Object.keys(old.headers), ...Object.keys(now.headers)])) {
    const [was, is] = [old.headers[key], now.headers[key]];
    const label = `the header ${is?.name ?? was?.name ?? ''} of the response ${status}`;
    if (was !== undefined && is !== undefined) diffHeader(documents, { at, label }, was, is);
    else if (is !== undefined) report('safe', at, `${label} is new`, 'A new header, which you may use.');
    else report(was?.required === true ? 'breaking' : 'client-breaking', at, `${label} is gone`, 'Code that reads it gets nothing.');
  }
  if (old.description !== now.description)
    report('documentation', at, `the description of the response ${status} changed`, NOTHING_CHANGES);
  if (!isEquivalent([before, resolve(before, old.holder).value['links']], [after, resolve(after, at).value['links']]))
    report('documentation', at, `the links of the response ${status} changed`, 'Tools that follow links find other operations.');
}

function diffHeader(
  { before, after, report }: Documents,
  { label, at }: { readonly label: string; readonly at: string },
  was: Header,
  is: Header,
): void {
  if (!was.required && is.required) report('safe', at, `${label} is required now`, NOTHING_TO_DO);
  if (was.required && !is.required) report('breaking', at, `${label} is optional now`, 'Handle responses without it.');
  if (was.pointer !== undefined && is.pointer !== undefined)
    diffSchemas({ before, after, direction: 'response', report: withName(report, label) }, was.pointer, is.pointer);
  else if (was.pointer !== is.pointer)
    report('uncompared', at, `the schema of ${label} was added or removed, but this program cannot compare it`, 'Read the change.');
}

/** Keys of an operation that other functions compare. */
const COMPARED: ReadonlySet<string> = new Set(
  'operationId parameters requestBody responses callbacks security servers x-billable x-destructive x-retry'.split(' '),
);
/** Keys of an operation that are documentation only, with all other extensions. */
const TEXTS: ReadonlySet<string> = new Set(['summary', 'description', 'tags', 'deprecated', 'externalDocs']);

function diffTexts({ before, after, report }: Documents, was: Operation, is: Operation): void {
  const [from, to] = [Object(valueAt(before, was.pointer)), Object(valueAt(after, is.pointer))];
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    if (COMPARED.has(key) || JSON.stringify(from[key]) === JSON.stringify(to[key])) continue;
    if (TEXTS.has(key) || key.startsWith('x-')) report('documentation', is.pointer, `its ${key} changed`, NOTHING_CHANGES);
    else report('uncompared', is.pointer, `its ${key} changed, but this program cannot compare it`, 'Read the change.');
  }
}

/** Reports a change of a part that this program cannot compare. */
function diffUncompared({ before, after, report }: Documents, key: string, was: string, is: string): void {
  const [old, now] = [valueAt(before, joinPointer(was, key)), valueAt(after, joinPointer(is, key))];
  if (isEquivalent([before, old], [after, now])) return;
  const at = now === undefined ? is : joinPointer(is, key);
  report('uncompared', at, `${key} changed, but this program cannot compare it`, 'Read the change: the service may send other requests.');
}
