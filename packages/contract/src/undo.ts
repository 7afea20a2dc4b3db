import type { Operation } from './operation.ts';

/**
 * The operation that undoes another: `…/undelete` what `…/delete` did, and `DELETE /things/{id}` what a creation in `/things` made.
 * Undefined where the document has none: then what was done stays.
 */
export function undoOf(operation: Operation, operations: readonly Operation[]): Operation | undefined {
  const cut = operation.path.lastIndexOf('/');
  const folder = operation.path.slice(0, cut);
  const reverse = operations.find(({ path, readOnly }) => !readOnly && path === `${folder}/un${operation.path.slice(cut + 1)}`);
  if (reverse !== undefined || operation.path.includes('{') || operation.method === 'DELETE') return reverse;
  return operations.find(
    ({ method, path }) =>
      method === 'DELETE' &&
      [operation.path, folder].some((collection) => collection !== '' && new RegExp(`^${escape(collection)}/\\{[^{}/]+\\}$`).test(path)),
  );
}

/** Whether an operation is there to undo another, so that it runs when there is something to undo. */
export function isUndo(operation: Operation, operations: readonly Operation[]): boolean {
  return operations.some((other) => undoOf(other, operations)?.id === operation.id);
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
