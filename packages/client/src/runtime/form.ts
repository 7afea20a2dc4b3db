/** Forms and paths: what is given is checked and written, by the document's types and `encoding`. */
import type { FieldError } from '../generated/types.gen.ts';
import type { Facts } from './options.ts';

/** Values by field. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * Writes a form. Fields that are undefined are left out.
 *
 * @param issues Gets what is wrong, by field; nothing may be sent when it is not empty.
 */
export function writeForm({ form, needs }: Facts, values: Values, issues: FieldError[]): string {
  const pairs: string[] = [];
  const refuse = (field: string, rule: string, message: string) => issues.push({ field, rule, message });
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const kind = form && Object.hasOwn(form, name) ? form[name] : undefined;
    if (kind === undefined) {
      refuse(name, 'unknown', 'is not a field of this form');
      continue;
    }
    const separator = kind.replace(/^.!?/, '');
    const items = separator === '' ? [value] : Array.isArray(value) ? value : [undefined];
    const texts = items.map((item) => written(kind.charAt(0), item));
    if (texts.includes(undefined)) refuse(name, 'type', `must be ${separator && 'a list, each '}${KINDS[kind.charAt(0)]}`);
    else if (separator === '*') for (const text of texts) pairs.push(`${name}=${text}`);
    else pairs.push(`${name}=${texts.join(separator === ',' ? ',' : encodeURIComponent(separator))}`);
  }
  for (const name in form) {
    if (form[name]?.charAt(1) === '!' && values[name] === undefined) refuse(name, 'required', 'is required');
  }
  for (const name in needs) {
    for (const needed of needs[name] ?? []) {
      if (values[name] !== undefined && values[needed] === undefined) refuse(needed, 'required', `is required with ${name}`);
    }
  }
  return pairs.join('&');
}

/**
 * Fills the path template.
 *
 * @param issues Gets what is wrong, by parameter.
 */
export function writePath(template: string, values: Values, issues: FieldError[]): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    const text = written(typeof value === 'number' ? 'i' : 's', value);
    // A dot segment would be another path.
    if (text !== undefined && !/^\.{0,2}$/.test(text)) return text;
    issues.push({ field: name, rule: 'type', message: 'must be the identifier as it was given to you' });
    return '';
  });
}

const KINDS: Readonly<Record<string, string>> = {
  s: 'text',
  d: 'a date',
  D: 'a date',
  i: 'an integer',
  n: 'a finite number',
  b: 'true or false',
};

/** The text of a value, percent-encoded; undefined where it is not of the kind. */
function written(kind: string, value: unknown): string | undefined {
  const text =
    kind === 'i'
      ? Number.isSafeInteger(value) && String(value)
      : kind === 'n'
        ? Number.isFinite(value) && String(value)
        : kind === 'b'
          ? typeof value === 'boolean' && String(value)
          : typeof value === 'string'
            ? value.isWellFormed() && value
            : kind !== 's' && value instanceof Date && !Number.isNaN(+value) && value.toISOString().slice(0, kind === 'D' ? 10 : undefined);
  return text === false
    ? undefined
    : encodeURIComponent(text).replace(/[!'()~]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
}
