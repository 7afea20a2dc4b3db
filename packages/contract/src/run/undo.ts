import type { Operation } from '../document/operation.ts';

/** A cache of the undo operations, by operation id. */
const known = new WeakMap<readonly Operation[], ReadonlyMap<string, Operation>>();

/**
 * The operation that undoes another: `…/undelete` for `…/delete`, and `DELETE /things/{id}` for a creation in `/things`.
 * Undefined when the document has none.
 */
export function undoOf(operation: Operation, operations: readonly Operation[]): Operation | undefined {
  return undosOf(operations).get(operation.id);
}

/** Whether an operation undoes another. */
export function isUndo(operation: Operation, operations: readonly Operation[]): boolean {
  return [...undosOf(operations).values()].some(({ id }) => id === operation.id);
}

function undosOf(operations: readonly Operation[]): ReadonlyMap<string, Operation> {
  let undos = known.get(operations);
  if (undos === undefined) {
    undos = new Map(operations.map((operation) => [operation.id, findUndo(operation, operations)] as const).filter(isFound));
    known.set(operations, undos);
  }
  return undos;
}

function isFound(entry: readonly [string, Operation | undefined]): entry is readonly [string, Operation] {
  return entry[1] !== undefined;
}

function findUndo({ path, method }: Operation, operations: readonly Operation[]): Operation | undefined {
  const cut = path.lastIndexOf('/');
  const folder = path.slice(0, cut);
  const reverse = operations.find((other) => !other.readOnly && other.path === `${folder}/un${path.slice(cut + 1)}`);
  if (reverse !== undefined || path.includes('{') || method === 'DELETE') return reverse;
  const collections = [path, folder].filter((collection) => collection !== '');
  return operations.find((other) => other.method === 'DELETE' && collections.some((collection) => isItemOf(collection, other.path)));
}

/** Whether a path is that of an item of a collection: `/things/{id}` of `/things`. */
function isItemOf(collection: string, path: string): boolean {
  return path.startsWith(`${collection}/{`) && path.indexOf('}') === path.length - 1;
}
