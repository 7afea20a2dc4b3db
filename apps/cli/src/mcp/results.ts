/** Results of tools: without secrets, and short unless the caller asks for more. */
import type { OpenApiDocument } from '@reseller/contract';
import { MASK, secretNames } from '@reseller/contract';

/** How many items of a list are returned by default. */
export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 200;

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** A value without secrets: a text with the name of a secret becomes `***`. */
export function withoutSecrets(document: OpenApiDocument, value: unknown): unknown {
  const names = secretNames(document);
  function masked(part: unknown, name: string): unknown {
    if (typeof part === 'string') return names.has(name) ? MASK : part;
    if (Array.isArray(part)) return part.map((item) => masked(item, name));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([inner, member]) => [inner, masked(member, inner)]));
  }
  return masked(value, '');
}

/** A list as one page, and an object with the lists in it cut at the limit. The result says what is left out. */
export function pageOf(value: unknown, { limit, offset }: Page): unknown {
  if (Array.isArray(value)) {
    const items = value.slice(offset, offset + limit);
    const next = offset + items.length;
    return { items, total: value.length, ...(next < value.length && { next_offset: next }) };
  }
  const omitted: Record<string, number> = {};
  function cut(part: unknown, path: string): unknown {
    if (Array.isArray(part)) {
      if (part.length > limit) omitted[path] = part.length - limit;
      return part.slice(0, limit).map((item, index) => cut(item, `${path}[${index}]`));
    }
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, cut(member, path === '' ? name : `${path}.${name}`)]));
  }
  const shown = cut(value, '');
  return Object.keys(omitted).length === 0 ? shown : { ...Object(shown), omitted_items: omitted };
}
