import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import type { JsonObject } from '../document/json.ts';
import { joinPointer, pointerTokens, valueAt } from '../document/pointer.ts';
import { replaced } from '../document/replace.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Proposal } from './proposal.ts';

/**
 * Limits a change of a shared response to the operation that showed it, by replacing the reference with a changed copy.
 * @returns the unchanged proposal when several operations showed it, or no other operation uses the response
 */
export function limitToOperation(document: OpenApiDocument, proposal: Proposal, exchanges: readonly Exchange[]): Proposal {
  const component = /^\/components\/responses\/[^/]+/.exec(proposal.at)?.[0];
  const [first] = exchanges;
  if (component === undefined || first === undefined || proposal.kind !== 'add-entry') return proposal;
  const references = referencesTo(document, component);
  const own = references.filter((pointer) => pointer.startsWith(`${first.operation.pointer}/`));
  const [reference] = own;
  const isShown = exchanges.every(({ operation }) => operation.id === first.operation.id);
  if (!isShown || reference === undefined || own.length > 1 || references.length === 1) return proposal;
  const below = proposal.at.slice(component.length);
  const shared = valueAt(document, component);
  if (!isObject(shared)) return proposal;
  return {
    kind: 'own-response',
    at: reference,
    value: withEntry(shared, joinPointer(below, proposal.key), proposal.value),
    change: { ...proposal, at: reference + below },
  };
}

/** Pointers to all references to a response. */
function referencesTo({ paths = {} }: OpenApiDocument, component: string): readonly string[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(Object(item)).flatMap(([method, operation]) =>
      Object.entries(Object(Object(operation).responses)).flatMap(([status, response]) =>
        Object(response).$ref === `#${component}` ? [joinPointer('', 'paths', path, method, 'responses', status)] : [],
      ),
    ),
  );
}

/** A copy with an entry at a pointer. Creates missing parents. */
function withEntry(object: JsonObject, pointer: string, entry: unknown): JsonObject {
  const tokens = pointerTokens(pointer);
  const missing = tokens.findIndex((_, index) => valueAt(object, joinPointer('', ...tokens.slice(0, index + 1))) === undefined);
  const value = tokens.slice(missing + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), entry);
  const copy = replaced(object, joinPointer('', ...tokens.slice(0, missing + 1)), value);
  return isObject(copy) ? copy : object;
}
