/** The part of the OpenAPI Overlay Specification 1.0 that the extension needs: additions to objects and lists that exist. */
import { isFields, isText } from '../lint/nodes.ts';
import type { Fields } from '../lint/nodes.ts';

/** A change of one object or list of a document. */
export interface OverlayAction {
  /** A JSONPath of names only, such as `$.paths['/vm/create'].put.responses`. */
  readonly target: string;
  /** The members to add to the object, or the item to append to the list. */
  readonly update: Fields;
}

/**
 * Reads the actions of an overlay.
 *
 * @throws Error naming the first action that cannot be read
 */
export function overlayActions(overlay: unknown): OverlayAction[] {
  const actions = isFields(overlay) ? overlay['actions'] : undefined;
  if (!Array.isArray(actions)) throw new Error('The overlay has no list of actions.');
  return actions.map((action: unknown, position) => {
    const { target, update } = isFields(action) ? action : {};
    if (!isText(target) || !isFields(update)) throw new Error(`Action ${position + 1} of the overlay needs a target and an update.`);
    return { target, update };
  });
}

/**
 * A copy of a document with more members in one object, or one more item in a list. Existing members and items stay as they are.
 *
 * @throws Error if the document does not have the object or list, or already has one of the members
 */
export function applyAction(document: Fields, { target, update }: OverlayAction): Fields {
  const [first = '', ...rest] = namesOf(target);
  return { ...document, [first]: updated(document[first], rest, update, target) };
}

function updated(value: unknown, [name, ...rest]: readonly string[], update: Fields, target: string): unknown {
  if (name === undefined && Array.isArray(value)) return [...value, update];
  if (!isFields(value)) throw new Error(`The document has no object or list at ${target}.`);
  if (name !== undefined) return { ...value, [name]: updated(value[name], rest, update, target) };
  const present = Object.keys(update).find((key) => key in value);
  if (present !== undefined) throw new Error(`The document already has ${present} at ${target}.`);
  return { ...value, ...update };
}

function namesOf(target: string): string[] {
  const parts = /^\$((?:\.[A-Za-z_]\w*|\['[^']+'\])+)$/.exec(target)?.[1];
  if (parts === undefined) throw new Error(`The target ${target} is not a JSONPath of names, such as $.paths['/vm/create'].put.`);
  return [...parts.matchAll(/\.(\w+)|\['([^']+)'\]/g)].map(([, plain, quoted]) => plain ?? quoted ?? '');
}
