import type { Operation } from '../document/operation.ts';
import { hasPathParameters } from '../document/path-template.ts';
import { isListFor } from '../exchange/discover.ts';

/**
 * The reads whose responses can have identifiers for operations, and the reads that have identifiers for those: operations that link to
 * them, lists in the same part of the path, and lists of the resources that a path parameter names.
 */
export function sourcesFor(wanted: readonly Operation[], operations: readonly Operation[]): ReadonlySet<string> {
  const sources = new Set<string>();
  const waiting = wanted.filter(needsIdentifier);
  for (let operation = waiting.pop(); operation !== undefined; operation = waiting.pop()) {
    for (const source of operations) {
      if (!source.readOnly || source.id === operation.id || sources.has(source.id) || !hasIdentifiersFor(source, operation)) continue;
      sources.add(source.id);
      if (needsIdentifier(source)) waiting.push(source);
    }
  }
  return sources;
}

function needsIdentifier({ path, body }: Operation): boolean {
  return hasPathParameters(path) || [...(body?.fields.values() ?? [])].some(({ required }) => required);
}

function hasIdentifiersFor(source: Operation, operation: Operation): boolean {
  const links = Object.values(source.responses).flatMap((response) => response.links);
  if (links.some(({ operationId }) => operationId === operation.id)) return true;
  const area = operation.path.split('/', 2).join('/');
  const isInArea = source.path === area || source.path.startsWith(`${area}/`);
  const isAbove = operation.path.startsWith(`${source.path}/`);
  // A field of the body can have an identifier that only a single resource shows.
  if (isAbove || (isInArea && (operation.body !== undefined || !hasPathParameters(source.path)))) return true;
  return operation.parameters.some((parameter) => parameter.in === 'path' && isListFor(source, parameter.name));
}
