import type { Operation } from '../document/operation.ts';
import { namedValues } from '../document/parameters.ts';
import { discoverCreated, discoverPaths } from '../exchange/discover.ts';
import type { PathValues } from '../exchange/discover.ts';
import { isSuccess, jsonValue } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { pagingOf } from '../exchange/paging.ts';
import type { Run } from './run-state.ts';
import type { Step } from './step.ts';

/**
 * The path parameters with which a step can be sent, the best first.
 * @param isLastResort whether to use examples of the document, because no response contains a value
 */
export function pathsOf(run: Run, { operation, path }: Step, isLastResort: boolean): readonly PathValues[] {
  if (path === 'none') return [{}];
  if (path === 'own') return run.cleaner.owned(operation, run.exchanges);
  if (path !== 'found') return [path];
  const found = pathsFor(run, operation, run.exchanges);
  return found.length === 0 && isLastResort && operation.readOnly ? pathsInDocument(run, operation) : found;
}

/** Path parameters from earlier responses. Resources that the run created come first. */
export function pathsFor(
  { document, validator }: Pick<Run, 'document' | 'validator'>,
  operation: Operation,
  exchanges: readonly Exchange[],
): readonly PathValues[] {
  const plain = exchanges.filter(({ sent }) => sent.credential === 'account' && sent.purpose !== 'method');
  const creations = plain.filter(({ operation: source, status }) => isSuccess(status) && !source.readOnly);
  const created = creations
    .map((exchange) => discoverCreated({ document, validator, operation, exchanges: [exchange] }))
    .filter((path) => path !== undefined);
  const all = [...created, ...discoverPaths({ document, validator, operation, exchanges: plain })];
  return [...new Map(all.map((path) => [JSON.stringify(path), path])).values()];
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

/** The field that requests the next page: none for other steps, undefined when there is no next page. */
export function nextPage({ document, exchanges }: Run, { next, operation }: Step): Readonly<Record<string, string>> | undefined {
  if (next === undefined) return {};
  const first = exchanges.find(
    ({ operation: { id }, sent, status }) => id === operation.id && sent.purpose === 'call' && isSuccess(status),
  );
  const value = next.value ?? (first === undefined ? undefined : pagingOf(document, operation)?.next(jsonValue(first)));
  return value === undefined ? undefined : { [next.field]: value };
}
