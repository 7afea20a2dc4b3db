/** Results of tools: short unless the caller asks for more. */

/** How many items of a list are returned by default. */
export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 200;

export interface Page {
  readonly limit: number;
  readonly offset: number;
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
