/** The output of a command: a table, JSON or YAML. */
import { plainNumber } from '@reseller/contract/engine';
import stringWidth from 'string-width';
import { stringify } from 'yaml';
import type { ScalarTag } from 'yaml';

import { printable } from './text.ts';

export const FORMATS = ['table', 'json', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

export interface Layout {
  readonly format: Format;
  /** Names of the columns of a table; undefined for all. */
  readonly columns: readonly string[] | undefined;
  /** Names of the columns of a list without `columns`; undefined for those that fit. */
  readonly decisive?: readonly string[] | undefined;
  /** The column by whose values lists are sorted, with a `-` before it for the largest first. */
  readonly sort?: string | undefined;
  /** Whether tables have no line with the names of the columns. */
  readonly noHeader?: boolean;
  /** Width of the terminal; undefined without one. */
  readonly width: number | undefined;
}

/** The data of a response as text, with a line break at its end. */
export function render(given: unknown, layout: Layout): string {
  const data = layout.sort === undefined ? given : sorted(given, layout.sort);
  // A table of CSV. A file gets it as it is.
  if (typeof data === 'string') return layout.width === undefined ? data : `${data.split('\r\n').map(printable).join('\n')}`;
  if (layout.format === 'json') return `${jsonOf(data ?? null, 2)}\n`;
  if (layout.format === 'yaml') return stringify(data ?? null, { lineWidth: 0, customTags: (tags) => [PLAIN_NUMBER, ...tags] });
  return `${blocksOf(data, '', layout).join('\n\n')}\n`;
}

/** YAML 1.1 reads `1.3e-7` as a text. */
const PLAIN_NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => typeof value === 'number' && String(value).includes('e'),
  test: /^-?\d+(?:\.\d+)?e[-+]?\d+$/,
  resolve: Number,
  stringify: ({ value }) => plainNumber(Number(value)),
};

declare global {
  interface JSON {
    /** The types of TypeScript 7 lack it. */
    rawJSON(text: string): object;
  }
}

/** JSON whose numbers have no exponent, because a person or a model also reads it. */
export function jsonOf(data: unknown, indent?: number): string {
  function plain(_name: string, value: unknown): unknown {
    // Only these numbers differ, and formatting takes a millisecond each.
    return typeof value === 'number' && String(value).includes('e') ? JSON.rawJSON(plainNumber(value)) : value;
  }
  return JSON.stringify(data, plain, indent);
}

/** A list shows `hostsystem.name` by default, and not what is deeper. */
const MAX_NAME_PARTS = 2;

type Row = ReadonlyMap<string, unknown>;

/** A value as tables: one for its scalars, and one for each list of objects in it. */
function blocksOf(value: unknown, title: string, layout: Layout): string[] {
  if (isList(value)) return [withTitle(title, listTable(value, layout))];
  if (!isObject(value)) return value === null || value === undefined ? [] : [cellText(value)];
  const page = pageIn(value);
  if (page)
    return [
      listTable(page.items, layout),
      ...(page.next === null ? [] : [`There are more. Continue with --cursor ${cellText(page.next)}`]),
    ];
  const flat = [...flatten(value)];
  const lines = flat
    .filter(([name, cell]) => !isTable(cell) && isWanted(name, layout))
    .map(([name, cell]) => [name, cellText(cell)] as const);
  const widest = Math.max(0, ...lines.map(([name]) => stringWidth(name)));
  const own = lines.map(([name, text]) => `${padEnd(name, widest)}  ${text}`.trimEnd()).join('\n');
  const inner = flat.flatMap(([name, cell]) => {
    if (!isTable(cell)) return [];
    const columns = isWanted(name, layout) ? undefined : columnsIn(cell, layout);
    // Without headers, a program reads the lines.
    return columns?.length === 0 ? [] : blocksOf(cell, layout.noHeader ? '' : name, { ...layout, columns });
  });
  return [...(own === '' ? [] : [withTitle(title, own)]), ...inner];
}

/** A page of a list of the operator API. */
function pageIn(value: object): { readonly items: readonly unknown[]; readonly next: unknown } | undefined {
  const { items, next_cursor: next }: { items?: unknown; next_cursor?: unknown } = value;
  return isList(items) && next !== undefined ? { items, next } : undefined;
}

function isWanted(name: string, { columns }: Layout): boolean {
  return columns === undefined || columns.includes(name);
}

/** The wanted columns that a list has. */
function columnsIn(list: readonly unknown[], { columns = [] }: Layout): readonly string[] {
  const names = new Set(list.filter(isObject).flatMap((item) => [...flatten(item).keys()]));
  return columns.filter((name) => names.has(name));
}

function withTitle(title: string, text: string): string {
  return title === '' ? text : `${title}\n${text}`;
}

function listTable(items: readonly unknown[], layout: Layout): string {
  if (items.length === 0) return 'The list is empty.';
  if (!items.some(isObject)) return items.map(cellText).join('\n');
  const rows = items.map((item): Row => flatten(isObject(item) ? item : { value: item }));
  const all = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const decisive = layout.decisive?.filter((name) => all.includes(name)) ?? [];
  const chosen = layout.columns ?? (decisive.length > 0 ? decisive : undefined);
  const names = chosen ?? all.filter((name) => name.split('.').length <= MAX_NAME_PARTS);
  const columns = names.map((name) => {
    const cells = rows.map((row) => row.get(name));
    const texts = [...(layout.noHeader ? [] : [layout.columns ? name : shortName(name, names)]), ...cells.map(cellText)];
    const isNumeric = cells.every((cell) => isAmount(cell) || cell === null || cell === undefined);
    return { texts, isNumeric, width: Math.max(...texts.map((text) => stringWidth(text))) };
  });
  const shown = layout.columns ? columns : fitting(columns, layout.width);
  const lines = Array.from({ length: rows.length + (layout.noHeader ? 0 : 1) }, (_, line) =>
    shown
      .map(({ texts, isNumeric, width }) => (isNumeric ? padStart : padEnd)(texts[line] ?? '', width))
      .join('  ')
      .trimEnd(),
  );
  const hidden = all.length - shown.length;
  return layout.columns || layout.noHeader || hidden === 0
    ? lines.join('\n')
    : `${lines.join('\n')}\n(${hidden} more columns: --columns, -o json, -o yaml)`;
}

/** The last two parts of a name, which fit into a terminal, if they are enough to tell it from the others. */
function shortName(name: string, names: readonly string[]): string {
  const tail = name.split('.').slice(-MAX_NAME_PARTS).join('.');
  return names.filter((one) => one === tail || one.endsWith(`.${tail}`)).length === 1 ? tail : name;
}

/** A value with its lists of objects sorted. Numbers are compared as numbers, and what lacks the column comes last. */
function sorted(value: unknown, sort: string): unknown {
  const isDescending = sort.startsWith('-');
  const name = isDescending ? sort.slice(1) : sort;
  function compare(one: unknown, other: unknown): number {
    const [a, b] = [one, other].map((item) => (isObject(item) ? flatten(item).get(name) : undefined));
    if (a === undefined || a === null || b === undefined || b === null)
      return Number(a === undefined || a === null) - Number(b === undefined || b === null);
    const order = isAmount(a) && isAmount(b) ? Number(a) - Number(b) : String(a).localeCompare(String(b), 'en');
    return isDescending ? -order : order;
  }
  if (isList(value)) return value.some(isObject) ? value.map((item) => sorted(item, sort)).toSorted(compare) : value;
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, sorted(inner, sort)])) : value;
}

/** The leading columns that fit into the width, at least one. */
function fitting<Column extends { readonly width: number }>(columns: readonly Column[], width = Infinity): readonly Column[] {
  let used = 0;
  return columns.filter((column, index) => {
    used += column.width + (index === 0 ? 0 : 2);
    return used <= width || index === 0;
  });
}

/** Nested objects become names with dots: `hostsystem.name`. */
function flatten(object: object, prefix = ''): Map<string, unknown> {
  const flat = new Map<string, unknown>();
  for (const [name, value] of Object.entries(object)) {
    const full = printable(prefix + name);
    if (isObject(value)) for (const [inner, cell] of flatten(value, `${full}.`)) flat.set(inner, cell);
    else flat.set(full, value);
  }
  return flat;
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (isList(value)) return value.some(isObject) ? `${value.length} items` : value.map(cellText).join(', ');
  if (typeof value === 'number') return plainNumber(value);
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value));
}

function isTable(value: unknown): value is readonly unknown[] {
  return isList(value) && value.some(isObject);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - stringWidth(text))) + text;
}
