import { removalOf } from '../document/creation.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import type { Operation } from '../document/operation.ts';
import { pathParameters } from '../document/path-template.ts';
import { FREE_TEXT } from '../document/values.ts';
import { identifiersFor, isListFrom } from '../exchange/discover.ts';
import type { PathValues } from '../exchange/discover.ts';
import { isSuccess, jsonValue } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';

/** A new item of a list that a creation without a success may have made. */
export interface Suspect {
  /** Its identifier, for the operation that removes it. */
  readonly path: PathValues;
  /** Whether it has a text that only a run of this program sends, so that the run may remove it. */
  readonly isOurs: boolean;
}

/** The texts of generated bodies, and of names that a run makes unique. */
const OUR_TEXT = new RegExp(`^(?:contract-?(?:test|[0-9a-z]+-)|${FREE_TEXT.slice(0, 10)}|x{8})`);

/** The operation that removes what a creation makes, if the items of a list are such things. */
export function removalIn(list: Operation, creation: Operation, operations: readonly Operation[]): Operation | undefined {
  const removal = removalOf(creation, operations);
  const isSingle = removal !== undefined && pathParameters(removal.path).length === 1;
  return list.method === 'GET' && isSingle && isListFrom(list, removal.path) ? removal : undefined;
}

/**
 * The new items of a list with the values of a body: not in the first reading of the list, and not among those that the run knows.
 * @param sent the fields of the body
 */
export function suspectsIn(
  { document, exchanges }: { readonly document: OpenApiDocument; readonly exchanges: readonly Exchange[] },
  list: Exchange,
  removal: Operation,
  sent: Readonly<Record<string, unknown>>,
): readonly Suspect[] {
  const first = exchanges.find(({ operation, status }) => operation.id === list.operation.id && isSuccess(status));
  const [name] = pathParameters(removal.path);
  if (first === undefined || first === list || name === undefined || !isSuccess(list.status)) return [];
  const before = new Set(identifiersFor(document, removal, first));
  const items = objectsIn(jsonValue(list));
  return identifiersFor(document, removal, list).flatMap((id): readonly Suspect[] => {
    const item = before.has(id) ? undefined : items.find((one) => Object.values(one).some((value) => String(value) === id));
    if (item === undefined || !hasValues(item, sent)) return [];
    const isOurs = Object.entries(sent).some(([field, value]) => item[field] === value && OUR_TEXT.test(String(value)));
    return [{ path: { [name]: id }, isOurs }];
  });
}

function objectsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isObject(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}

/** Whether an item shows at least one of the sent values, and no other value in its place. */
function hasValues(item: Readonly<Record<string, unknown>>, sent: Readonly<Record<string, unknown>>): boolean {
  const shared = Object.entries(sent).filter(([name, value]) => typeof value !== 'object' && Object.hasOwn(item, name));
  return shared.length > 0 && shared.every(([name, value]) => String(item[name]) === String(value));
}
