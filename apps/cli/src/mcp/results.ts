/** Results of tools: short unless the caller asks for more, and never longer than a limit. */
import { Buffer } from 'node:buffer';

import { jsonOf } from '../output.ts';

/** How many items of a list are returned by default. */
export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 200;
/** The limit of a result, in tokens. */
export const DEFAULT_MAX_TOKENS = 4_000;
/** The fewest bytes of a token: 2.2 in lists of UUIDs and dates, 2.6 in positions of an invoice, measured with o200k. */
const BYTES_PER_TOKEN = 2;
/** Texts and lists that are not the paged one are cut to this length in a result that would be too long. */
const SHORT = { text: 400, list: 5 };

export interface Page {
  readonly limit: number;
  readonly offset: number;
  readonly maxTokens: number;
  /** Whether lists become their number of items. */
  readonly summary: boolean;
}

/** A list: an array, or an object with one member for each of many things, such as the positions of an invoice by VM. */
interface Found {
  readonly path: readonly string[];
  readonly size: number;
}

/**
 * A value that fits into the limit. Its longest list is cut to a page and names the `offset` of the next page.
 *
 * @param value A result without secrets.
 */
export function pageOf(value: unknown, page: Page): unknown {
  if (page.summary) return summaryOf(value);
  const list = longestList(value);
  if (!list) return fits(value, page) ? value : shortened(value, page);
  const rest = Math.max(0, list.size - page.offset);
  const most = Math.min(page.limit, rest);
  return (
    largestPage(value, list, page, most) ??
    largestPage(short(value), list, page, most) ??
    shortened(pageWith(short(value), list, page.offset, Math.min(1, rest)), page)
  );
}

/** The largest page that fits, by halving; undefined if not even one item fits. */
function largestPage(value: unknown, list: Found, page: Page, most: number): unknown {
  for (let count = most; ; count = Math.floor(count / 2)) {
    const result = pageWith(value, list, page.offset, count);
    if (fits(result, page)) return result;
    if (count <= 1) return undefined;
  }
}

function pageWith(value: unknown, { path, size }: Found, offset: number, count: number): unknown {
  const next = offset + count;
  const more = next < size ? { next_offset: next, how_to_go_on: `Call the tool again with the same input and offset ${next}.` } : {};
  const cut = changedAt(value, path, (list) =>
    Array.isArray(list) ? list.slice(offset, next) : Object.fromEntries(Object.entries(Object(list)).slice(offset, next)),
  );
  if (path.length === 0 && Array.isArray(value)) return { items: cut, total: size, ...more };
  if (count === size) return cut;
  // The cursor of the service goes on after this page, of which a part is still to come.
  const { next_cursor: cursor, ...others } = Object(cut);
  // The total of an invoice is its amount.
  return { total: size, ...others, ...(cursor !== undefined && next >= size && { next_cursor: cursor }), page_of: path.join('.'), ...more };
}

function longestList(value: unknown): Found | undefined {
  let longest: Found | undefined;
  function visit(part: unknown, path: readonly string[]): void {
    if (typeof part !== 'object' || part === null) return;
    const members = Object.entries(part);
    if (isListOrMap(part) && members.length > (longest?.size ?? 0)) longest = { path, size: members.length };
    // Lists inside the items of a list belong to the items.
    if (!Array.isArray(part)) for (const [name, inner] of members) visit(inner, [...path, name]);
  }
  visit(value, []);
  return longest;
}

/** Fewer members with objects in them are the parts of one thing. */
const FEW_MEMBERS = 8;

function isListOrMap(value: object): boolean {
  if (Array.isArray(value)) return true;
  const members = Object.values(value);
  return members.length > FEW_MEMBERS && members.every((member) => typeof member === 'object' && member !== null);
}

function changedAt(value: unknown, path: readonly string[], change: (part: unknown) => unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(value);
  return Object.fromEntries(
    Object.entries(Object(value)).map(([one, inner]) => [one, one === name ? changedAt(inner, rest, change) : inner]),
  );
}

function summaryOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isListOrMap(value)) return { count: Object.keys(value).length };
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, summaryOf(inner)]));
}

/** Cuts long texts, and the lists inside the items of a list. */
function short(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    return value.length <= SHORT.text ? value : `${value.slice(0, SHORT.text)}… (${value.length - SHORT.text} more characters)`;
  }
  if (Array.isArray(value)) {
    const items = depth > 0 && value.length > SHORT.list ? [...value.slice(0, SHORT.list), `… (${value.length - SHORT.list} more)`] : value;
    return items.map((item: unknown) => short(item, depth + 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  const innerDepth = isListOrMap(value) ? depth + 1 : depth;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, short(inner, innerDepth)]));
}

/** The last resort: the names of what there is. */
function shortened(value: unknown, page: Page): unknown {
  const shorter = short(value, 1);
  if (fits(shorter, page)) return shorter;
  const names = typeof value === 'object' && value !== null ? Object.keys(value).slice(0, SHORT.list * 4) : [];
  return { too_long: `The result is longer than ${page.maxTokens} tokens. The user can see it with the command line.`, has: names };
}

function fits(value: unknown, { maxTokens }: Page): boolean {
  return Buffer.byteLength(jsonOf(value) ?? '') <= maxTokens * BYTES_PER_TOKEN;
}
