/** Lists in pages. An opaque cursor holds the keys of the last item, so no item is returned twice. */
import { sql } from 'kysely';
import type { RawBuilder, SelectQueryBuilder } from 'kysely';

import { PAGE_SIZE } from '../generated/operator/facts.gen.ts';
import { OperatorProblem } from './problem.ts';

/** The order of a list: columns that are unique together, and their types. */
export interface Order {
  readonly columns: Readonly<Record<string, 'text' | 'integer'>>;
  readonly direction: 'asc' | 'desc';
}

/** The parameters of every list. */
export interface PageQuery {
  readonly cursor?: string;
  readonly limit?: number;
}

type CursorKey = string | number;

/** The number of rows to fetch: one more than the page, which shows whether a next page exists. */
export function rowLimit({ limit }: PageQuery): number {
  return (limit ?? PAGE_SIZE) + 1;
}

/**
 * The condition for rows after the cursor. Without a cursor, every row satisfies it.
 *
 * @throws OperatorProblem 400 if the cursor is not from a list of this order.
 */
function afterCursor(order: Order, { cursor }: PageQuery): RawBuilder<boolean> {
  if (cursor === undefined) return sql<boolean>`1 = 1`;
  const columns = sql.join(Object.keys(order.columns).map((column) => sql.ref(column)));
  const values = sql.join(keysOf(order, cursor));
  return order.direction === 'asc' ? sql<boolean>`(${columns}) > (${values})` : sql<boolean>`(${columns}) < (${values})`;
}

/**
 * The keys of the last item of the previous page. Empty without a cursor.
 *
 * @throws OperatorProblem 400 if the cursor is not from a list of this order.
 */
export function cursorKeys(order: Order, { cursor }: PageQuery): readonly CursorKey[] {
  return cursor === undefined ? [] : keysOf(order, cursor);
}

/** The `order by` clause of a list. */
function inOrder({ columns, direction }: Order): RawBuilder<unknown> {
  const way = direction === 'asc' ? sql`asc` : sql`desc`;
  return sql.join(Object.keys(columns).map((column) => sql`${sql.ref(column)} ${way}`));
}

/** Rows of a page, and the cursor of the next one. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next_cursor: string | null;
}

/** Turns the rows of a query with `rowLimit` into a page. */
export function pageOf<Row>(fetched: readonly Row[], query: PageQuery, keys: (row: Row) => readonly CursorKey[]): Page<Row> {
  const rows = fetched.slice(0, rowLimit(query) - 1);
  const last = rows.at(-1);
  return { rows, next_cursor: fetched.length > rows.length && last !== undefined ? cursorOf(keys(last)) : null };
}

/**
 * Reads a page of the rows of a query.
 *
 * @param rows It selects the columns of the order.
 * @throws OperatorProblem 400 if the cursor is not from a list of this order.
 */
export async function readPage<DB, Tables extends keyof DB, Row>(
  rows: SelectQueryBuilder<DB, Tables, Row>,
  order: Order,
  query: PageQuery,
): Promise<Page<Row>> {
  const fetched = await rows.where(afterCursor(order, query)).orderBy(inOrder(order)).limit(rowLimit(query)).execute();
  return pageOf(fetched, query, (row) => Object.keys(order.columns).map((column) => Object(row)[column]));
}

/** The cursor of keys in the order of a list. */
export function cursorOf(keys: readonly CursorKey[]): string {
  return Buffer.from(JSON.stringify(keys)).toString('base64url');
}

function keysOf({ columns }: Order, cursor: string): CursorKey[] {
  const wanted = Object.values(columns);
  const keys = parseCursor(cursor);
  const fits = keys.length === wanted.length && keys.every((key, index) => isCursorKey(key, wanted[index]));
  if (fits) return keys.filter((key) => typeof key === 'string' || typeof key === 'number');
  throw new OperatorProblem(
    'malformed-request',
    'The query parameter cursor is not from this list. Send the next_cursor of the previous page, or omit it.',
  );
}

function isCursorKey(key: unknown, kind: 'text' | 'integer' | undefined): boolean {
  return kind === 'integer' ? Number.isSafeInteger(key) : typeof key === 'string' && !key.includes('\0');
}

function parseCursor(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
