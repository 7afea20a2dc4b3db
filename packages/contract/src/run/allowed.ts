import { isCreation, isItemWrite, itemIn, removalOf, undoOf } from '../document/creation.ts';
import type { Operation } from '../document/operation.ts';
import { pathParameters } from '../document/path-template.ts';
import { namedPaths } from './planning.ts';
import type { NamedOperations, Naming } from './planning.ts';
import type { Sendable } from './sendable.ts';

interface ChosenOperations extends Naming {
  readonly operations: readonly Operation[];
  readonly only: NamedOperations;
  readonly sendable: ReadonlyMap<string, Sendable | string>;
}

/**
 * Why a run may use each operation that changes something: it makes what the run removes again, it changes or removes only that, or the user
 * named it. An operation without a reason is not in the result.
 */
export function allowedChanges(parts: ChosenOperations): ReadonlyMap<string, string> {
  const { operations, names, only, sendable } = parts;
  const changing = operations.filter(({ id, readOnly }) => !readOnly && typeof sendable.get(id) === 'object');
  const allowed = new Map<string, string>();
  for (const operation of changing) if (names.has(operation.id)) allowed.set(operation.id, reasonOfNamed(parts, operation));
  const free = changing.filter(({ billable }) => !billable);
  for (let size = -1; size !== allowed.size;) {
    size = allowed.size;
    const used = changing.filter(({ id }) => allowed.has(id));
    for (const operation of free) {
      const reason = allowed.has(operation.id) ? undefined : reasonFor(parts, operation, used);
      // A run of named operations has no other operations than those that undo their changes.
      const isUndoing = used.some((one) => (undoOf(one, operations) ?? removalOf(one, operations))?.id === operation.id);
      if (reason !== undefined && (only.size === 0 || isUndoing)) allowed.set(operation.id, reason);
    }
  }
  return allowed;
}

function reasonOfNamed(parts: ChosenOperations, operation: Operation): string {
  const paths = namedPaths(parts, operation);
  if (paths.length === 0 || pathParameters(operation.path).length === 0) return 'you named it';
  return `you named it with ${paths.map((path) => Object.values(path).join('/')).join(', ')}`;
}

/** Why a run may use an operation without a name, given the operations that it uses. */
function reasonFor({ operations, sendable }: ChosenOperations, operation: Operation, used: readonly Operation[]): string | undefined {
  function canRemove(creation: Operation): boolean {
    const removal = removalOf(creation, operations);
    return removal !== undefined && !removal.billable && typeof sendable.get(removal.id) === 'object';
  }
  const undone = used.find((one) => undoOf(one, operations)?.id === operation.id && removalOf(one, operations)?.id !== operation.id);
  if (undone !== undefined) return `it undoes ${undone.id}`;
  const makers = [...used.filter((one) => isCreation(one, operations)), ...used.filter(isItemWrite)];
  const maker = makers.find((one) => itemIn(operation.path, one) !== undefined);
  // A POST on a resource can have effects elsewhere, such as a message, so it needs a name unless it plainly creates.
  if (maker !== undefined && operation.method !== 'POST') return `it is sent only for what ${maker.id} made`;
  // An action or an invitation below a resource can have effects that stay when the resource is removed.
  if (!isCreation(operation, operations) || !canRemove(operation)) return undefined;
  return `${removalOf(operation, operations)?.id ?? ''} removes what it makes`;
}
