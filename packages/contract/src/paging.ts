import type { OpenApiDocument } from './document.ts';
import type { Operation } from './operation.ts';
import { jsonOf } from './answer.ts';
import { isObject } from './json.ts';
import { joinPointer, valueAt } from './pointer.ts';
import { replaced } from './replace.ts';
import { keysOf } from './schema.ts';
import { rootView, type View } from './view.ts';

/** How an operation's list is read page by page. */
export interface Paging {
  /** Name of the form field that says where a page begins. */
  readonly field: string;
  /** Most items of a page. */
  readonly size: number;
  /** JSON pointer to the list in the body. */
  readonly pointer: string;
  /** JSON pointer into the document to the list's schema. */
  readonly at: string;
  readonly itemsOf: (body: unknown) => readonly unknown[] | undefined;
  readonly withItems: (body: unknown, items: readonly unknown[]) => unknown;
}

const BEGINNING = /^(?:offset|skip|start)$/i;
const DEPTH = 3;

/** How the list of an operation is paged: it takes an offset, and its answer has a list with a greatest length. */
export function pagingOf(document: OpenApiDocument, operation: Operation): Paging | undefined {
  const field = [...(operation.form?.fields.values() ?? [])].find(({ name, kind }) => kind === 'integer' && BEGINNING.test(name));
  const schema = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => jsonOf(response)?.pointer)
    .find((pointer) => pointer !== undefined);
  if (field === undefined || schema === undefined) return undefined;
  const list = findList(rootView(document, schema), '', 0);
  if (list === undefined) return undefined;
  const itemsOf = (body: unknown): readonly unknown[] | undefined => {
    const items = valueAt(body, list.pointer);
    return Array.isArray(items) ? items : undefined;
  };
  return { field: field.name, ...list, itemsOf, withItems: (body, items) => replaced(body, list.pointer, items) };
}

function findList(view: View, pointer: string, depth: number): Pick<Paging, 'size' | 'pointer' | 'at'> | undefined {
  for (const node of view.nodes) {
    const size = node.schema['maxItems'];
    if (typeof size === 'number') return { size, pointer, at: node.pointer };
  }
  if (depth === DEPTH) return undefined;
  const names = new Set(view.nodes.flatMap(({ schema }) => (isObject(schema) ? keysOf(schema, 'properties') : [])));
  for (const name of names) {
    const found = findList(view.member(name).view, joinPointer(pointer, name), depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
