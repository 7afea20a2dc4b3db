import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import type { Operation, Parameter } from '../document/operation.ts';
import { joinPointer, valueAt } from '../document/pointer.ts';
import { replaced } from '../document/replace.ts';
import { keysOf, schemaNodes, typesOf } from '../document/schema.ts';
import { rootView } from '../document/view.ts';
import type { View } from '../document/view.ts';
import { jsonOf, jsonValue } from './exchange.ts';
import type { Exchange } from './exchange.ts';

/** How to read the list of an operation page by page. */
export interface Paging {
  /** What asks for the next page: the number of items to skip, the number of the page, a cursor, or an address (RFC 8288, `next` in the body). */
  readonly by: 'offset' | 'page' | 'cursor' | 'link';
  readonly in: 'form' | 'query';
  /** Name of the form field or query parameter; empty for an address, which names its parameters itself. */
  readonly field: string;
  /** Maximum number of items on a page, if the document has it. */
  readonly size: number | undefined;
  /** JSON pointer to the list in the body. */
  readonly pointer: string;
  /** JSON pointer into the document to the list's schema. */
  readonly at: string;
  /** The offset or number of the second page, which no response needs to name; undefined for a cursor and an address. */
  readonly second: string | undefined;
  /** Returns the parameters of the page after a response; undefined when there is none. */
  readonly next: (page: Page) => readonly QueryPair[] | undefined;
  readonly itemsOf: (body: unknown) => readonly unknown[] | undefined;
  readonly withItems: (body: unknown, items: readonly unknown[]) => unknown;
}

/** The parts of an exchange that can name the next page. */
export type Page = Pick<Exchange, 'body' | 'headers'> & { readonly sent: Pick<Exchange['sent'], 'url'> };

export type QueryPair = readonly [name: string, value: string];

const OFFSET = /^(?:offset|skip|start)$/i;
const NUMBER = /^page(?:_?(?:no|number|index))?$/i;
const CURSOR = /^(?:cursor|after|before|starting_?after|ending_?before|(?:page|next|continuation)_?token|continuation|marker)$/i;
/** Names of properties with the cursor of the next page. */
const NEXT = /^(?:next|next_?(?:cursor|token|page_?token|marker)|cursor|continuation_?token|continuation|end_?cursor)$/i;
/** Names of properties with the address of the next page. */
const NEXT_ADDRESS = /^next(?:_?(?:page_?)?(?:url|link|uri|href))?$/i;
const MAX_DEPTH = 3;

/** Whether a parameter is a cursor. Only a response has a valid value. */
export function isCursor({ in: place, name }: Pick<Parameter, 'in' | 'name'>): boolean {
  return place === 'query' && CURSOR.test(name);
}

/** Whether all pages can be read one after the other, until a response names no next one. */
export function isWalked(paging: Paging | undefined): boolean {
  return paging?.by === 'cursor' || paging?.by === 'link';
}

/**
 * Detects the paging of an operation: an offset and a list with `maxItems`, a cursor and a response with the next one, a response with the address of
 * the next page, or the number of a page.
 */
export function pagingOf(document: OpenApiDocument, operation: Operation): Paging | undefined {
  const success = Object.entries(operation.responses).find(
    ([status, response]) => status.startsWith('2') && jsonOf(response)?.pointer !== undefined,
  )?.[1];
  const schema = success === undefined ? undefined : jsonOf(success)?.pointer;
  if (success === undefined || schema === undefined) return undefined;
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
  if (offset !== undefined && base.size !== undefined) {
    const second = String(base.size);
    return { ...base, ...offset, by: 'offset', second, next: () => [[offset.field, second]] };
  }
  const cursor = fieldOf(document, operation, CURSOR, 'string');
  const named = cursor === undefined ? undefined : find(view, (_, name) => NEXT.test(name));
  if (cursor !== undefined && named !== undefined) {
    return {
      ...base,
      ...cursor,
      by: 'cursor',
      second: undefined,
      next(page) {
        const value = valueAt(jsonValue(page), named.pointer);
        return typeof value === 'string' && value !== '' ? [[cursor.field, value]] : undefined;
      },
    };
  }
  const link = { ...base, by: 'link', in: 'query', field: '', second: undefined } as const;
  if (success.headers['link'] !== undefined)
    return { ...link, next: ({ headers, sent }) => queryOf(nextLink(headers['link'] ?? ''), sent.url) };
  const address = find(view, (_, name) => NEXT_ADDRESS.test(name));
  if (address !== undefined) return { ...link, next: (page) => queryOf(valueAt(jsonValue(page), address.pointer), page.sent.url) };
  const number = fieldOf(document, operation, NUMBER, 'integer');
  if (number === undefined) return undefined;
  const second = String(firstNumber(operation, number.field) + 1);
  return {
    ...base,
    ...number,
    by: 'page',
    second,
    next: (page) => ((itemsOf(jsonValue(page)) ?? []).length === 0 ? undefined : [[number.field, second]]),
  };
}

/** The number of the first page: the default, else 1. Where it is 0, the third page follows the first. */
function firstNumber({ parameters }: Operation, field: string): number {
  const schema = parameters.find(({ in: place, name }) => place === 'query' && name === field)?.schema;
  return isObject(schema) && typeof schema['default'] === 'number' ? schema['default'] : 1;
}

/** The address with the relation `next` in a `Link` header. */
function nextLink(header: string): string | undefined {
  for (const [, address, parameters = ''] of header.matchAll(/<([^<>]*)>([^<]*)/g))
    if (/;\s*rel="?(?:[^";]* )?next[\s";]?/i.test(`${parameters};`)) return address;
  return undefined;
}

/** The query of the address of a page of the same list. */
function queryOf(address: unknown, base: string): readonly QueryPair[] | undefined {
  if (typeof address !== 'string' || address === '' || !URL.canParse(address, base)) return undefined;
  const { pathname, searchParams } = new URL(address, base);
  // Behind a proxy, a service may write another base path.
  const isSame = pathname.split('/').at(-1) === new URL(base).pathname.split('/').at(-1);
  return isSame && searchParams.size > 0 ? [...searchParams] : undefined;
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
