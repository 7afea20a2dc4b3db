import { valueAt } from '@reseller/contract';

/** An object of the document. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The members of an object. Other values have none. */
export function members(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {};
}

/** The items of an array. Other values have none. */
export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The target of a reference (`$ref`), or the value itself if it is not one. */
export function follow(document: unknown, value: unknown): unknown {
  const reference = members(value)['$ref'];
  if (typeof reference !== 'string') return value;
  const target = valueAt(document, reference.replace(/^#/, ''));
  if (target === undefined) throw new Error(`The document refers to ${reference}, which it does not have.`);
  return follow(document, target);
}

/** Whether a pattern allows nothing but digits and a decimal point. Such a text may also be given as the number that a response has. */
export function isNumeric(pattern: unknown): boolean {
  if (typeof pattern !== 'string' || pattern.includes('\\+')) return false;
  return /^\^[\d(){}|?+*,.\\]+\$$/.test(pattern.replaceAll(/\[\d-\d\]/g, '0'));
}

/** The source of a value in TypeScript. Names have quotes only if they need them. */
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
