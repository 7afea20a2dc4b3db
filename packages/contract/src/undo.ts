import type { Operation } from './operation.ts';

/** What undoes each operation, by id, worked out once for a list of operations. */
const known = new WeakMap<readonly Operation[], ReadonlyMap<string, Operation>>();

/**
 * The operation that undoes another: `…/undelete` what `…/delete` did, and `DELETE /things/{id}` what a creation in `/things` made.
 * Undefined where the document has none: then what was done stays.
 */
export function undoOf(operation: Operation, operations: readonly Operation[]): Operation | undefined {
  return undosOf(operations).get(operation.id);
}

/** Whether an operation is there to undo another, so that it runs when there is something to undo. */
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

/** Whether a path is that of one thing of a collection: `/things/{id}` of `/things`. */
function isItemOf(collection: string, path: string): boolean {
  return path.startsWith(`${collection}/{`) && path.indexOf('}') === path.length - 1;
}
