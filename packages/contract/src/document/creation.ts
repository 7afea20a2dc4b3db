import type { Operation } from './operation.ts';
import { fillPath } from './path-template.ts';

/** Last words of a path that create something in the collection before them: `PUT /vm/create`. */
const CREATING_WORD = /^(?:add|buy|create|new|order|register)$/i;
/** Last words of a path that remove the resource before them: `DELETE /vm/{vmid}/delete`. */
const REMOVING_WORD = /^(?:delete|remove)$/i;
const PARAMETER = /^\{[^{}]+\}$/;

/** A path without a file extension, as in `/messages.json`. */
export function withoutEnding(path: string): string {
  return path.replace(/\.[a-z]+$/, '');
}

/**
 * The part of a path template that names one item of the collection in which an operation creates: `/things/{id}` in `/things/{id}/parts`
 * for `POST /things`, and `/vm/{vmid}` for `PUT /vm/create`. A PUT of an item may create that item.
 * @returns undefined when the path does not begin with such an item
 */
export function itemIn(path: string, creation: Pick<Operation, 'path' | 'method'>): string | undefined {
  const collection = collectionOf(creation);
  if (collection === undefined) return isItemWrite(creation) && isAtOrBelow(path, creation.path) ? cutAt(path, creation.path) : undefined;
  const item = cutAt(path, `${collection}/{}`);
  const last = item.slice(item.lastIndexOf('/') + 1);
  return PARAMETER.test(last) && isAtOrBelow(path, `${collection}/{}`) ? item : undefined;
}

/** The collection in which an operation creates, if it is one that can create: its path, or the path before a word such as `create`. */
function collectionOf({ path, method }: Pick<Operation, 'path' | 'method'>): string | undefined {
  const plain = withoutEnding(path);
  const cut = plain.lastIndexOf('/');
  if ((method === 'POST' || method === 'PUT') && cut > 0 && CREATING_WORD.test(plain.slice(cut + 1))) return plain.slice(0, cut);
  return method === 'POST' && !plain.endsWith('}') ? plain : undefined;
}

/** The name of the collection in which an operation creates: `vm` for `PUT /vm/create`, `things` for `POST /shelves/{id}/things`. */
export function collectionNameOf(operation: Pick<Operation, 'path' | 'method'>): string {
  const words = (collectionOf(operation) ?? withoutEnding(operation.path)).split('/').filter((segment) => !segment.includes('{'));
  return words.at(-1) ?? '';
}

/** Whether an operation writes the resource that its path names, which some services create when it is missing: `PUT /things/{id}`. */
export function isItemWrite({ path, method }: Pick<Operation, 'path' | 'method'>): boolean {
  return (method === 'PUT' || method === 'PATCH') && withoutEnding(path).endsWith('}');
}

/** The resources that a path names, from the outermost: `/things/7` and `/things/7/parts/3`. */
export function resourcesAt(template: string, values: Readonly<Record<string, string>>): readonly string[] {
  const segments = withoutEnding(template).split('/');
  return segments.flatMap((segment, index) => (segment.includes('{') ? [fillPath(segments.slice(0, index + 1).join('/'), values)] : []));
}

/** A path without the names of its parameters and without a file extension: `/things/{}`. */
export function pathShapeOf(path: string): string {
  return withoutEnding(path).replaceAll(/\{[^{}]*\}/g, '{}');
}

function isAtOrBelow(path: string, other: string): boolean {
  const [one, above] = [pathShapeOf(path), pathShapeOf(other)];
  return one === above || one.startsWith(`${above}/`);
}

function cutAt(path: string, other: string): string {
  return withoutEnding(path).split('/').slice(0, other.split('/').length).join('/');
}

/** Names of parameters that are identifiers, whatever else the document says. */
const IDENTIFIER = /[{_-](?:id|uuid|guid)\}$|[a-z](?:Id|ID|Uuid|UUID)\}$|identifier\}$/;

/**
 * Whether the path parameters of an operation name things that the service keeps: by the name of the last one, or because the document has an
 * operation of their collection, changes one of them, or links to one. Another parameter is a value, such as a year, a range or a search word, and each of them is known.
 */
export function namesResources(operations: readonly Operation[], { id, path }: Pick<Operation, 'id' | 'path'>): boolean {
  const shape = pathShapeOf(path);
  const last = shape.slice(0, shape.lastIndexOf('}') + 1);
  const collection = last.slice(0, last.lastIndexOf('/'));
  if (IDENTIFIER.test(path.slice(0, path.lastIndexOf('}') + 1))) return true;
  return operations.some((other) => {
    const otherShape = pathShapeOf(other.path);
    const isOfCollection =
      otherShape === collection || (otherShape.startsWith(`${collection}/`) && !otherShape.slice(collection.length).includes('{'));
    const isChange = !other.readOnly && (otherShape === last || otherShape.startsWith(`${last}/`));
    const isLinked = Object.values(other.responses).some(({ links }) => links.some(({ operationId }) => operationId === id));
    return (collection !== '' && isOfCollection) || isChange || isLinked;
  });
}

/** What the document says about the operations that create and remove. */
interface Creations {
  readonly undos: ReadonlyMap<string, Operation>;
  readonly removals: ReadonlyMap<string, Operation>;
  /** The operations that plainly create. */
  readonly creating: ReadonlySet<string>;
}

/** A cache, by the list of operations of a document. */
const known = new WeakMap<readonly Operation[], Creations>();

/**
 * The operation that undoes another: `…/undelete` for `…/delete`, and the removal of the item for a creation.
 * Undefined when the document has none.
 */
export function undoOf(operation: Operation, operations: readonly Operation[]): Operation | undefined {
  return creationsOf(operations).undos.get(operation.id);
}

/** The operation that removes what an operation creates, or would create if it were missing. */
export function removalOf(operation: Operation, operations: readonly Operation[]): Operation | undefined {
  return creationsOf(operations).removals.get(operation.id);
}

/** Whether an operation undoes another. */
export function isUndo(operation: Operation, operations: readonly Operation[]): boolean {
  return [...creationsOf(operations).undos.values()].some(({ id }) => id === operation.id);
}

/** Whether an operation plainly creates: the document reads or removes single items of its collection. */
export function isCreation(operation: Operation, operations: readonly Operation[]): boolean {
  return creationsOf(operations).creating.has(operation.id);
}

/** Whether the document says that a request with an unknown identifier does not create: it describes 404, and not 201. */
export function excludesCreation({ responses }: Pick<Operation, 'responses'>): boolean {
  return responses['404'] !== undefined && responses['201'] === undefined;
}

function creationsOf(operations: readonly Operation[]): Creations {
  const before = known.get(operations);
  if (before !== undefined) return before;
  const [undos, removals] = [new Map<string, Operation>(), new Map<string, Operation>()];
  const creating = new Set<string>();
  // Documents can have more than a thousand operations, so each looks only at the paths that begin like its own.
  const byShape = Map.groupBy(operations, ({ path }) => itemShapeOf(path));
  for (const operation of operations) {
    if (operation.readOnly) continue;
    const reverse = reverseOf(operation, operations);
    const item = itemShapeFor(operation);
    const items = (item === undefined ? [] : (byShape.get(item) ?? [])).filter(({ path }) => itemIn(path, operation) !== undefined);
    const removal = items.find((other) => isRemoval(other, item ?? ''));
    if (removal !== undefined) removals.set(operation.id, removal);
    const isWrite = isItemWrite(operation);
    if (
      !isWrite &&
      !operation.makesSeveral &&
      items.some(({ method, path }) => method === 'GET' || isRemoval({ method, path }, item ?? ''))
    )
      creating.add(operation.id);
    const undo = reverse ?? (isWrite ? undefined : removal);
    if (undo !== undefined) undos.set(operation.id, undo);
  }
  const creations = { undos, removals, creating };
  known.set(operations, creations);
  return creations;
}

/** The shape of the item that an operation creates, or would create. */
function itemShapeFor(operation: Operation): string | undefined {
  if (isItemWrite(operation)) return pathShapeOf(operation.path);
  const collection = collectionOf(operation);
  return collection === undefined ? undefined : `${pathShapeOf(collection)}/{}`;
}

/** The shape of the innermost resource in a path. */
export function itemShapeOf(path: string): string {
  const shape = pathShapeOf(path);
  return shape.slice(0, shape.lastIndexOf('{}') + 2);
}

function isRemoval({ method, path }: Pick<Operation, 'method' | 'path'>, item: string): boolean {
  const shape = pathShapeOf(path);
  return method === 'DELETE' && (shape === item || (shape.startsWith(`${item}/`) && REMOVING_WORD.test(shape.slice(item.length + 1))));
}

function reverseOf({ path }: Operation, operations: readonly Operation[]): Operation | undefined {
  const cut = path.lastIndexOf('/');
  const reverse = `${path.slice(0, cut)}/un${path.slice(cut + 1)}`;
  return operations.find((other) => !other.readOnly && other.path === reverse);
}
