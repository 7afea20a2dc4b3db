import { valueAt } from '@reseller/contract';

/** A JSON object, as the document holds it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An object's members; none for anything else. */
export function members(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {};
}

/** An array's items; none for anything else. */
export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What a `$ref` of the document points at; the value itself where it is none. */
export function follow(document: unknown, value: unknown): unknown {
  const reference = members(value)['$ref'];
  if (typeof reference !== 'string') return value;
  const target = valueAt(document, reference.replace(/^#/, ''));
  if (target === undefined) throw new Error(`The document refers to ${reference}, which it does not have.`);
  return follow(document, target);
}

/** TypeScript source of plain data, names unquoted where they may be. */
export function source(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(source).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? quoted(value) : JSON.stringify(value);
  const written = Object.entries(value).filter(([, item]) => item !== undefined);
  return written.length === 0
    ? '{}'
    : `{ ${written.map(([name, item]) => `${/^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)}: ${source(item)}`).join(', ')} }`;
}

/** A string literal with single quotes. */
export function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
