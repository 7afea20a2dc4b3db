import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import type { Operation } from '../document/operation.ts';
import { joinPointer, valueAt } from '../document/pointer.ts';
import { replaced } from '../document/replace.ts';
import { keysOf, schemaNodes, typesOf } from '../document/schema.ts';
import { rootView } from '../document/view.ts';
import type { View } from '../document/view.ts';
import { jsonOf } from './exchange.ts';

/** How to read the list of an operation page by page. */
export interface Paging {
  /** Whether a request has the number of items to skip, or a cursor from the page before. */
  readonly by: 'offset' | 'cursor';
  readonly in: 'form' | 'query';
  /** Name of the form field or query parameter with the offset or cursor. */
  readonly field: string;
  /** Maximum number of items on a page, if the document has it. */
  readonly size: number | undefined;
  /** JSON pointer to the list in the body. */
  readonly pointer: string;
  /** JSON pointer into the document to the list's schema. */
  readonly at: string;
  /** Returns the offset or cursor of the next page; undefined when there is none. */
  readonly next: (body: unknown) => string | undefined;
  readonly itemsOf: (body: unknown) => readonly unknown[] | undefined;
  readonly withItems: (body: unknown, items: readonly unknown[]) => unknown;
}

const OFFSET = /^(?:offset|skip|start)$/i;
const CURSOR = /^(?:cursor|after|starting_?after|(?:page|next|continuation)_?token|continuation|marker)$/i;
/** Names of properties with the cursor of the next page. */
const NEXT = /^(?:next|next_?(?:cursor|token|page_?token|marker)|cursor|continuation_?token|continuation|end_?cursor)$/i;
const MAX_DEPTH = 3;

/** Detects the paging of an operation: an offset and a list with `maxItems`, or a cursor and a response with the next cursor. */
export function pagingOf(document: OpenApiDocument, operation: Operation): Paging | undefined {
  const schema = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => jsonOf(response)?.pointer)
    .find((pointer) => pointer !== undefined);
  if (schema === undefined) return undefined;
  const view = rootView(document, schema);
  const list = find(view, ({ nodes }) => nodes.some(({ schema: one }) => typeof one['maxItems'] === 'number')) ?? find(view, isList);
  if (list === undefined) return undefined;
  const node =
    list.view.nodes.find((one) => typeof one.schema['maxItems'] === 'number') ??
    list.view.nodes.find(({ schema: one }) => one['items'] !== undefined);
  const size = Number(node?.schema['maxItems']);
  const { pointer } = list;
  function itemsOf(body: unknown): readonly unknown[] | undefined {
    const items = valueAt(body, pointer);
    return Array.isArray(items) ? items : undefined;
  }
  const base = {
    pointer,
    at: node?.pointer ?? schema,
    size: Number.isInteger(size) ? size : undefined,
    itemsOf,
    withItems: (body: unknown, items: readonly unknown[]) => replaced(body, pointer, items),
  };
  const offset = fieldOf(document, operation, OFFSET, 'integer');
  if (offset !== undefined && base.size !== undefined) return { ...base, ...offset, by: 'offset', next: () => String(base.size) };
  const cursor = fieldOf(document, operation, CURSOR, 'string');
  const named = cursor === undefined ? undefined : find(view, (_, name) => NEXT.test(name));
  if (cursor === undefined || named === undefined) return undefined;
  const { pointer: cursorPointer } = named;
  function next(body: unknown): string | undefined {
    const value = valueAt(body, cursorPointer);
    return typeof value === 'string' && value !== '' ? value : undefined;
  }
  return { ...base, ...cursor, by: 'cursor', next };
}

/** A form field, else a query parameter, with a certain name and type. */
function fieldOf(
  document: OpenApiDocument,
  { form, parameters }: Operation,
  name: RegExp,
  type: string,
): Pick<Paging, 'in' | 'field'> | undefined {
  const field = [...(form?.fields.values() ?? [])].find((one) => name.test(one.name) && one.kind === type);
  if (field !== undefined) return { in: 'form', field: field.name };
  const parameter = parameters.find(
    (one) =>
      one.in === 'query' && name.test(one.name) && one.pointer !== undefined && typesOf(schemaNodes(document, one.pointer)).has(type),
  );
  return parameter === undefined ? undefined : { in: 'query', field: parameter.name };
}

interface Found {
  readonly view: View;
  readonly pointer: string;
}

/** Finds the topmost matching part of a response, outside of lists. */
function find(root: View, isMatch: (view: View, name: string) => boolean): Found | undefined {
  let level: readonly (Found & { readonly name: string })[] = [{ view: root, pointer: '', name: '' }];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const found = level.find(({ view, name }) => isMatch(view, name));
    if (found !== undefined) return found;
    level = level.flatMap(({ view, pointer }) =>
      [...new Set(view.nodes.flatMap(({ schema }) => keysOf(schema, 'properties')))].map((name) => ({
        view: view.member(name).view,
        pointer: joinPointer(pointer, name),
        name,
      })),
    );
  }
  return undefined;
}

function isList({ nodes }: View): boolean {
  return nodes.some(({ schema }) => isObject(schema['items']));
}
