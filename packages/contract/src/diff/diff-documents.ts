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
import { IMPACTS, NOTHING_CHANGES, NOTHING_TO_DO } from './change.ts';
import type { Change, ReportChange } from './change.ts';
import { diffSchemas } from './diff-schemas.ts';
import type { Direction } from './diff-schemas.ts';
import { diffSecurity } from './diff-security.ts';
import { canonical } from './shape.ts';

interface Documents {
  readonly before: OpenApiDocument;
  readonly after: OpenApiDocument;
  readonly report: ReportChange;
}

/**
 * Compares two documents and classifies each change by its effect on users. A change of a schema that several operations share is one
 * change. A change that cannot be classified is `uncompared`.
 */
export function diffDocuments(before: OpenApiDocument, after: OpenApiDocument): readonly Change[] {
  const changes = new Map<string, Change>();
  function reportFor(operation?: string): ReportChange {
    return (change) => {
      const key = `${change.impact} ${change.at} ${change.what.split('.').at(-1)}`;
      const known = changes.get(key);
      if (known !== undefined && (operation === undefined || known.operations.includes(operation))) return;
      const operations = [...(known?.operations ?? []), ...(operation === undefined ? [] : [operation])];
      changes.set(key, { isRemoved: false, ...(known ?? change), operations });
    };
  }
  const [were, are] = [surveyOperations(parseDocument(before)), surveyOperations(parseDocument(after))];
  for (const [was, is] of pairsOf(were.operations, are.operations)) {
    const report = reportFor(is?.id ?? was?.id);
    diffOperation({ before, after, report }, was, is);
  }
  for (const { id, pointer, reason } of [...were.unreadable, ...are.unreadable])
    reportFor(id)({
      impact: 'uncompared',
      at: pointer,
      what: `${id} cannot be read: ${reason}`,
      client: 'Fix the document, and compare again.',
    });
  diffWhole({ before, after, report: reportFor() });
  return [...changes.values()].toSorted((one, other) => IMPACTS.indexOf(one.impact) - IMPACTS.indexOf(other.impact));
}

/** Pairs operations with the same method and path, regardless of parameter names, or else with the same id. */
function pairsOf(
  were: readonly Operation[],
  are: readonly Operation[],
): readonly (readonly [was: Operation | undefined, is: Operation | undefined])[] {
  function address({ method, path }: Operation): string {
    return `${method} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`;
  }
  const left = new Set(are);
  function take(isMatch: (one: Operation) => boolean): Operation | undefined {
    const found = [...left].find(isMatch);
    if (found !== undefined) left.delete(found);
    return found;
  }
  const byAddress = were.map((was) => [was, take((is) => address(is) === address(was))] as const);
  const pairs = byAddress.map(([was, is]) => [was, is ?? take((other) => other.id === was.id)] as const);
  return [...pairs, ...[...left].map((is) => [undefined, is] as const)];
}

/** Compares the parts that belong to no operation. */
function diffWhole({ before, after, report }: Documents): void {
  if (before.info.version !== after.info.version)
    report({
      impact: 'documentation',
      at: '/info/version',
      what: `the version is ${after.info.version} instead of ${before.info.version}`,
      client: NOTHING_CHANGES,
    });
  diffServers({ before, after, report }, '', '');
  diffUncompared({ before, after, report }, ['webhooks'], '', '');
}

function diffOperation(documents: Documents, was: Operation | undefined, is: Operation | undefined): void {
  const { report } = documents;
  if (is === undefined) {
    if (was !== undefined)
      report({
        impact: 'breaking',
        at: was.pointer,
        isRemoved: true,
        what: `${was.method} ${was.path} is gone`,
        client: `The function ${was.id} no longer exists; calls of earlier clients get 404 or 405.`,
      });
    return;
  }
  if (was === undefined)
    return report({ impact: 'safe', at: is.pointer, what: `${is.method} ${is.path} is new`, client: `A new function ${is.id}.` });
  diffAddress(documents, was, is);
  diffFacts(documents, was, is);
  diffSecurity(documents, was, is);
  diffServers(documents, was.pointer, is.pointer);
  diffParameters(documents, was, is);
  diffBodies(documents, was, is);
  diffResponses(documents, was, is);
  diffTexts(documents, was, is);
  diffUncompared(documents, ['callbacks'], was.pointer, is.pointer);
}

function diffAddress({ report }: Documents, was: Operation, is: Operation): void {
  const isMoved = was.method !== is.method || was.path.replaceAll(/\{[^{}]*\}/g, '{}') !== is.path.replaceAll(/\{[^{}]*\}/g, '{}');
  if (isMoved)
    report({
      impact: 'breaking',
      at: is.pointer,
      what: `it is ${is.method} ${is.path} instead of ${was.method} ${was.path}`,
      client: 'Existing clients call an address that no longer exists.',
    });
  if (was.id !== is.id)
    report({
      impact: 'breaking',
      at: is.pointer,
      what: `it is called ${is.id} instead of ${was.id}`,
      client: `Code that calls ${was.id} does not compile after the next generation; requests stay the same.`,
    });
}

function diffFacts({ report }: Documents, was: Operation, is: Operation): void {
  const at = is.pointer;
  if (was.billable !== is.billable)
    report({
      impact: is.billable ? 'breaking' : 'safe',
      at,
      what: is.billable ? 'it costs money now' : 'it no longer costs money',
      client: is.billable ? 'The same call has a price.' : NOTHING_TO_DO,
    });
  if (was.retry !== is.retry)
    report({
      impact: is.retry === 'never' ? 'breaking' : 'safe',
      at,
      what: `x-retry is ${is.retry} instead of ${was.retry}`,
      client: is.retry === 'never' ? 'The client no longer retries it: a lost response becomes an error.' : 'The client retries it.',
    });
}

/** Server URLs of the whole document, or of one operation. */
function diffServers({ before, after, report }: Documents, was: string, is: string): void {
  function urls(document: OpenApiDocument, holder: string): ReadonlySet<string> {
    const servers = valueAt(document, joinPointer(holder, 'servers'));
    return new Set(Array.isArray(servers) ? servers.map((server) => canonical(document, server)) : []);
  }
  function toText(server: string): string {
    const parsed: unknown = JSON.parse(server);
    return isObject(parsed) ? String(parsed['url']) : server;
  }
  const [old, now] = [urls(before, was), urls(after, is)];
  const at = joinPointer(is, 'servers');
  for (const server of old)
    if (!now.has(server))
      report({
        impact: 'breaking',
        at: now.size > 0 ? at : is,
        what: `the server ${toText(server)} is gone or has other variables`,
        client: 'Reconfigure clients that call it.',
      });
  for (const server of now)
    if (!old.has(server))
      report({
        impact: old.size === 0 && is !== '' ? 'breaking' : 'safe',
        at,
        what: `the server ${toText(server)} is new`,
        client: 'Another server, which you may use.',
      });
}

/** Compares path parameters by position, because requests do not contain their names. */
function diffParameters(documents: Documents, was: Operation, is: Operation): void {
  const { report } = documents;
  function keyed({ parameters, path }: Operation): ReadonlyMap<string, Parameter> {
    const names = pathParameters(path);
    return new Map(
      parameters.map((one) => [
        one.in === 'path' ? `path ${names.indexOf(one.name)}` : `${one.in} ${one.in === 'header' ? one.name.toLowerCase() : one.name}`,
        one,
      ]),
    );
  }
  const [were, are] = [keyed(was), keyed(is)];
  for (const key of new Set([...were.keys(), ...are.keys()])) {
    const [old, now] = [were.get(key), are.get(key)];
    if (now === undefined) {
      if (old !== undefined)
        report({
          impact: 'breaking',
          at: is.pointer,
          what: `the parameter ${old.in} ${old.name} is gone`,
          client: 'Code that sends it does not compile after the next generation.',
        });
    } else if (old === undefined)
      report({
        impact: now.required ? 'breaking' : 'safe',
        at: is.pointer,
        what: `the parameter ${now.in} ${now.name} is new${now.required ? ' and required' : ''}`,
        client: now.required ? 'Calls that do not send it are refused.' : 'A new parameter, which you may use.',
      });
    else diffParameter(documents, is, old, now);
  }
}

function diffParameter(documents: Documents, operation: Operation, old: Parameter, now: Parameter): void {
  const { before, after, report } = documents;
  const at = now.pointer ?? operation.pointer;
  const label = `the parameter ${now.in} ${now.name}`;
  if (old.name !== now.name)
    report({
      impact: 'breaking',
      at,
      what: `${label} was called ${old.name}`,
      client: 'Code that names it does not compile after the next generation; requests stay the same.',
    });
  if (old.required !== now.required)
    report({
      impact: now.required ? 'breaking' : 'safe',
      at,
      what: `${label} is ${now.required ? 'required' : 'optional'} now`,
      client: now.required ? 'Calls that do not send it are refused.' : NOTHING_TO_DO,
    });
  const [was, is] = [resolve(before, old.holder).value, resolve(after, now.holder).value];
  for (const keyword of ['style', 'explode', 'allowReserved', 'allowEmptyValue'] as const)
    if (serialization(was, keyword) !== serialization(is, keyword))
      report({
        impact: 'breaking',
        at,
        what: `${keyword} of ${label} is ${serialization(is, keyword)} instead of ${serialization(was, keyword)}`,
        client: 'The same value has to be written in another way.',
      });
  if (old.pointer !== undefined && now.pointer !== undefined)
    diffSchemas({ before, after, direction: 'request', report: named(report, label) }, old.pointer, now.pointer);
  else if (old.pointer !== now.pointer || canonical(before, was['content']) !== canonical(after, is['content']))
    report({
      impact: 'uncompared',
      at,
      what: `content of ${label} changed, but this program cannot compare it`,
      client: 'Read the change.',
    });
}

/** A serialisation keyword of a parameter, with the default of OpenAPI. */
function serialization(parameter: JsonObject, keyword: string): string {
  const place = parameter['in'];
  const style = parameter['style'] ?? (place === 'query' || place === 'cookie' ? 'form' : 'simple');
  if (keyword === 'style') return String(style);
  if (keyword === 'explode') return String(parameter['explode'] ?? style === 'form');
  return String(parameter[keyword] ?? false);
}

function named(report: ReportChange, name: string): ReportChange {
  return (change) => report({ ...change, what: change.what.replace('the body', name) });
}

interface Body {
  readonly pointer: string;
  readonly required: boolean;
}

function bodyOf(document: OpenApiDocument, operation: Operation): Body | undefined {
  if (!isObject(member(resolve(document, operation.pointer).value, 'requestBody'))) return undefined;
  const { pointer, value } = resolve(document, joinPointer(operation.pointer, 'requestBody'));
  return { pointer, required: value['required'] === true };
}

function diffBodies(documents: Documents, was: Operation, is: Operation): void {
  const { before, after, report } = documents;
  const [old, now] = [bodyOf(before, was), bodyOf(after, is)];
  if (old === undefined && now === undefined) return;
  if (now === undefined)
    return report({
      impact: 'breaking',
      at: is.pointer,
      what: 'it no longer takes a body',
      client: 'The content of the body is refused or ignored.',
    });
  if (old === undefined)
    return report({
      impact: now.required ? 'breaking' : 'safe',
      at: now.pointer,
      what: `it takes a body${now.required ? ', which is required' : ''} now`,
      client: now.required ? 'Calls without it are refused.' : 'A new body, which you may send.',
    });
  if (old.required !== now.required)
    report({
      impact: now.required ? 'breaking' : 'safe',
      at: now.pointer,
      what: `the body is ${now.required ? 'required' : 'optional'} now`,
      client: now.required ? 'Calls without it are refused.' : NOTHING_TO_DO,
    });
  diffContent(documents, 'request', { was: old.pointer, is: now.pointer, label: 'the body' });
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
  for (const [type, holder] of old) {
    const other = now.get(type);
    if (other === undefined)
      report({
        impact: 'breaking',
        at: is,
        what: `${label} can no longer be ${type}`,
        client: direction === 'request' ? 'Requests of this type are refused.' : 'The client cannot read it.',
      });
    else
      diffMedia(documents, direction, {
        was: holder,
        is: other,
        label: isJsonType(type) || old.size === 1 ? label : `${label} as ${type}`,
      });
  }
  for (const type of now.keys())
    if (!old.has(type))
      report({
        impact: old.size === 0 && direction === 'response' ? 'breaking' : 'safe',
        at: is,
        what: `${label} can be ${type} now`,
        client: 'Another content type.',
      });
}

function diffMedia({ before, after, report }: Documents, direction: Direction, { was, is, label }: Contents): void {
  const [old, now] = [resolve(before, was).value, resolve(after, is).value];
  const [had, has] = [old['schema'] !== undefined, now['schema'] !== undefined];
  if (had && has)
    diffSchemas({ before, after, direction, report: named(report, label) }, joinPointer(was, 'schema'), joinPointer(is, 'schema'));
  else if (had !== has)
    report({
      impact: has === (direction === 'request') ? 'breaking' : 'safe',
      at: is,
      what: `${label} ${has ? 'has a schema now' : 'no longer has a schema'}`,
      client: has ? 'It must now match a schema.' : 'It can have any value.',
    });
  if (canonical(before, old['encoding']) !== canonical(after, now['encoding']))
    report({
      impact: 'breaking',
      at: is,
      what: `encoding of ${label} changed`,
      client: 'The same value has to be written in another way.',
    });
}

function diffResponses(documents: Documents, was: Operation, is: Operation): void {
  const { report } = documents;
  for (const status of new Set([...Object.keys(was.responses), ...Object.keys(is.responses)])) {
    const [old, now] = [was.responses[status], is.responses[status]];
    const isResult = status.startsWith('2') || status.startsWith('3') || status === 'default';
    if (now === undefined)
      report({
        impact: isResult ? 'breaking' : 'safe',
        at: is.pointer,
        what: `the response ${status} is gone`,
        client: isResult ? 'The result has another shape.' : 'You have one case fewer to handle.',
      });
    else if (old === undefined)
      report({ impact: 'safe', at: now.holder, what: `the response ${status} is new`, client: 'Handle one more case.' });
    else diffResponse(documents, status, old, now);
  }
}

function diffResponse(documents: Documents, status: string, old: OperationResponse, now: OperationResponse): void {
  const { before, after, report } = documents;
  diffContent(documents, 'response', { was: old.holder, is: now.holder, label: `the body of the response ${status}` });
  for (const key of new Set([...Object.keys(old.headers), ...Object.keys(now.headers)])) {
    const [was, is] = [old.headers[key], now.headers[key]];
    if (was !== undefined || is !== undefined) diffHeader(documents, { status, at: now.holder }, was, is);
  }
  if (old.description !== now.description)
    report({ impact: 'documentation', at: now.holder, what: `the description of the response ${status} changed`, client: NOTHING_CHANGES });
  function links(document: OpenApiDocument, { holder }: OperationResponse): string {
    return canonical(document, resolve(document, holder).value['links']);
  }
  if (links(before, old) !== links(after, now))
    report({
      impact: 'documentation',
      at: now.holder,
      what: `the links of the response ${status} changed`,
      client: 'Tools that follow links find other operations.',
    });
}

function diffHeader(
  { before, after, report }: Documents,
  { status, at }: { readonly status: string; readonly at: string },
  was: Header | undefined,
  is: Header | undefined,
): void {
  const label = `the header ${is?.name ?? was?.name ?? ''} of the response ${status}`;
  if (is === undefined) return report({ impact: 'breaking', at, what: `${label} is gone`, client: 'Code that reads it gets nothing.' });
  if (was === undefined) return report({ impact: 'safe', at, what: `${label} is new`, client: 'A new header, which you may use.' });
  if (was.required !== is.required)
    report({
      impact: is.required ? 'safe' : 'breaking',
      at,
      what: `${label} is ${is.required ? 'required' : 'optional'} now`,
      client: is.required ? NOTHING_TO_DO : 'Handle responses without it.',
    });
  if (was.pointer !== undefined && is.pointer !== undefined)
    diffSchemas({ before, after, direction: 'response', report: named(report, label) }, was.pointer, is.pointer);
  else if (was.pointer !== is.pointer)
    report({
      impact: 'uncompared',
      at,
      what: `the schema of ${label} was added or removed, but this program cannot compare it`,
      client: 'Read the change.',
    });
}

/** Keys of an operation that are documentation only. */
const TEXTS = ['summary', 'description', 'tags', 'deprecated', 'externalDocs'] as const;
const COMPARED: ReadonlySet<string> = new Set([
  ...TEXTS,
  'operationId',
  'parameters',
  'requestBody',
  'responses',
  'callbacks',
  'security',
  'servers',
  'x-billable',
  'x-retry',
]);

function diffTexts({ before, after, report }: Documents, was: Operation, is: Operation): void {
  const [old, now] = [valueAt(before, was.pointer), valueAt(after, is.pointer)];
  const [from, to] = [isObject(old) ? old : {}, isObject(now) ? now : {}];
  for (const key of new Set([...TEXTS, ...Object.keys(from), ...Object.keys(to)])) {
    const isText = TEXTS.some((text) => text === key) || key.startsWith('x-');
    if ((COMPARED.has(key) && !isText) || key === 'x-billable' || key === 'x-retry') continue;
    if (JSON.stringify(from[key]) === JSON.stringify(to[key])) continue;
    report(
      isText
        ? { impact: 'documentation', at: is.pointer, what: `its ${key} changed`, client: NOTHING_CHANGES }
        : {
            impact: 'uncompared',
            at: is.pointer,
            what: `its ${key} changed, but this program cannot compare it`,
            client: 'Read the change.',
          },
    );
  }
}

/** Reports changes of parts that this program cannot compare. */
function diffUncompared({ before, after, report }: Documents, keys: readonly string[], was: string, is: string): void {
  for (const key of keys) {
    const [old, now] = [valueAt(before, joinPointer(was, key)), valueAt(after, joinPointer(is, key))];
    if (canonical(before, old) === canonical(after, now)) continue;
    report({
      impact: 'uncompared',
      at: now === undefined ? is : joinPointer(is, key),
      what: `${key} changed, but this program cannot compare it`,
      client: 'Read the change: the service may send other requests.',
    });
  }
}
