import type { Operation } from '../document/operation.ts';
import { isEntityTag, namedValues, takesHeader } from '../document/parameters.ts';
import { fillPath, pathParameters } from '../document/path-template.ts';
import { discoverCreated, discoverPaths } from '../exchange/discover.ts';
import type { PathValues } from '../exchange/discover.ts';
import { isSuccess } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { pagingOf } from '../exchange/paging.ts';
import type { QueryPair } from '../exchange/paging.ts';
import { basePath } from './guard.ts';
import type { Run } from './run-state.ts';
import type { Step } from './step.ts';

/**
 * The path parameters with which a step can be sent, the best first.
 * @param isLastResort whether to use examples of the document, because no response contains a value
 */
export function pathsOf(run: Run, step: Step, isLastResort: boolean): readonly PathValues[] {
  const { operation, path } = step;
  if (path === 'none') return [{}];
  if (path === 'own') return run.ownership.pathsFor(step, run.exchanges);
  if (path !== 'found' && path !== 'parents') return [path];
  const own = path === 'parents' ? run.ownership.pathsFor(step, run.exchanges) : [];
  if (own.length > 0) return own;
  const given = pathGiven(run, operation);
  const found = given === undefined ? pathsFor(run, operation, run.exchanges) : [given];
  return found.length === 0 && isLastResort ? pathsInDocument(run, operation) : found;
}

/** Path parameters from earlier responses. Resources that the run created come first. */
export function pathsFor(
  { document, validator, operations }: Pick<Run, 'document' | 'validator' | 'operations'>,
  operation: Operation,
  exchanges: readonly Exchange[],
): readonly PathValues[] {
  const plain = exchanges.filter(({ sent }) => sent.credential === 'account' && sent.purpose !== 'method');
  const creations = plain.filter(({ operation: source, status }) => isSuccess(status) && !source.readOnly);
  const created = creations
    .map((exchange) => discoverCreated({ document, validator, operation, operations, exchange }))
    .filter((path) => path !== undefined);
  const [first, ...more] = created;
  // One created resource, then those that exist, then the other created ones.
  const all = [...(first === undefined ? [] : [first]), ...discoverPaths({ document, validator, operation, exchanges: plain }), ...more];
  return [...new Map(all.map((path) => [JSON.stringify(path), path])).values()];
}

/** Path parameters that the user gives, when these are all. */
function pathGiven({ options }: Run, { path }: Operation): PathValues | undefined {
  const values = options.given?.values ?? {};
  const names = pathParameters(path);
  return names.every((name) => Object.hasOwn(values, name))
    ? Object.fromEntries(names.map((name) => [name, values[name] ?? '']))
    : undefined;
}

/** Path parameters from examples and enumerations of the document. */
function pathsInDocument(run: Run, operation: Operation): readonly PathValues[] {
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'path');
  const values = parameters.map((parameter) => [parameter.name, namedValues(run, parameter)[0]] as const);
  return values.some(([, value]) => value === undefined) ? [] : [Object.fromEntries(values.map(([name, value]) => [name, value ?? '']))];
}

/** The form fields whose values come from earlier responses; undefined while one is unknown. */
export function foundFields(run: Run, { form }: Step): Readonly<Record<string, string>> | undefined {
  const values: Record<string, string> = {};
  for (const [field, name] of Object.entries(form?.found ?? {})) {
    const holder = run.operations.find(({ parameters }) => parameters.some((one) => one.in === 'path' && one.name === name));
    const [path] = holder === undefined ? [] : pathsFor(run, holder, run.exchanges);
    const value = path?.[name];
    if (value === undefined) return undefined;
    values[field] = value;
  }
  return values;
}

/**
 * The conditional headers of a step: the entity tag of the latest response about the same resource, unless the step says otherwise. Undefined when the
 * step needs a tag or a time, and no response had one.
 */
export function conditionsFor(
  { exchanges, transport }: Run,
  { operation, ifMatch, ifChanged }: Step,
  path: PathValues,
): Readonly<Record<string, string>> | undefined {
  const hasIfMatch = operation.parameters.some(isEntityTag) && ifMatch !== 'missing';
  if (!hasIfMatch && ifChanged !== true) return {};
  const { pathname } = new URL(`${transport.target.origin}${basePath(transport.target)}${fillPath(operation.path, path)}`);
  const earlier = exchanges.filter(({ sent, status }) => isSuccess(status) && new URL(sent.url).pathname === pathname);
  const tags = earlier.flatMap(({ headers }) => headers['etag'] ?? []);
  const current = tags.at(-1);
  if (ifChanged === true) {
    const time = earlier.findLast(({ headers }) => headers['last-modified'] !== undefined)?.headers['last-modified'];
    if (takesHeader(operation, 'if-none-match') && current !== undefined) return { 'if-none-match': current };
    return takesHeader(operation, 'if-modified-since') && time !== undefined ? { 'if-modified-since': time } : undefined;
  }
  if (ifMatch !== 'stale') return current === undefined ? {} : { 'if-match': current };
  // The tag before the last change, else one of the same form that no state has had.
  const stale = current === undefined ? '"contract-test-stale"' : (tags.findLast((tag) => tag !== current) ?? alike(current));
  return { 'if-match': stale };
}

/** A tag of the same form, with another last letter or digit. */
function alike(tag: string): string {
  const characters = [...tag];
  const last = characters.findLastIndex((character) => /[0-9a-z]/i.test(character));
  return characters.map((character, index) => (index !== last ? character : character === '1' ? '2' : '1')).join('');
}

/** The parameters that request the next page: none for other steps, undefined when there is no next page. */
export function nextPage({ document, exchanges }: Run, { next, operation }: Step): readonly QueryPair[] | undefined {
  if (next === undefined) return [];
  const latest = exchanges.findLast(
    ({ operation: { id }, sent, status }) =>
      id === operation.id && (sent.purpose === 'call' || sent.purpose === 'next-page') && isSuccess(status),
  );
  const paging = pagingOf(document, operation);
  // The second page is requested by its offset, also where the first cannot be read.
  if (paging?.by === 'offset') return next.value === undefined ? undefined : [[next.field, next.value]];
  return latest === undefined ? undefined : paging?.next(latest);
}
