/** Forms: what is given is checked and written, by the document's types and `encoding`. */
import { encode } from './encode.ts';
import type { Facts } from './options.ts';

/** Values by field. */
export type Values = Readonly<Record<string, unknown>>;

/** Is told of a field that breaks a rule. */
export type Refuse = (field: string, rule: string, message: string) => void;

export type WriteForm = typeof writeForm;

/**
 * Writes a form. Fields that are undefined are left out.
 *
 * @param refuse Is told what is wrong, by field; nothing may be sent then.
 */
export function writeForm({ form = {}, needs = {} }: Facts, values: Values, refuse: Refuse): string {
  const pairs: string[] = [];
  for (const name of Object.keys({ ...values, ...form })) {
    const [, letter = '', required, separator] = /(.)(!?)(.?)/.exec((Object.hasOwn(form, name) && form[name]) || '') ?? [];
    const value = values[name];
    if (value === undefined) {
      if (required) refuse(name, 'required', 'is required');
      continue;
    }
    if (!letter) {
      refuse(name, 'unknown', 'is not a field of this form');
      continue;
    }
    for (const needed of needs[name] ?? []) if (values[needed] === undefined) refuse(needed, 'required', `is required with ${name}`);
    const texts = (separator ? (Array.isArray(value) ? value : [undefined]) : [value]).map((item) => written(letter, item));
    if (texts.includes(undefined)) refuse(name, 'type', `must be ${separator && 'a list, each '}${KINDS[letter] ?? 'a date'}`);
    else if (separator === '*') pairs.push(...texts.map((text) => `${name}=${text}`));
    else pairs.push(`${name}=${texts.join(separator === ',' ? ',' : encodeURIComponent(separator ?? ''))}`);
  }
  return pairs.join('&');
}

const KINDS: Readonly<Record<string, string>> = { s: 'text', i: 'an integer', n: 'a number', b: 'true or false' };

/** The text of a value, percent-encoded; undefined where it is not of the kind. */
function written(kind: string, value: unknown): string | undefined {
  const isDate = kind !== 's' && value instanceof Date && +value === +value;
  const fits =
    kind === 'i'
      ? Number.isSafeInteger(value)
      : kind === 'n'
        ? Number.isFinite(value)
        : typeof value === (kind === 'b' ? 'boolean' : 'string');
  const text = isDate ? value.toISOString().slice(0, kind === 'D' ? 10 : 24) : String(value);
  return (fits || (isDate && /d/i.test(kind))) && text.isWellFormed() ? encode(text) : undefined;
}
