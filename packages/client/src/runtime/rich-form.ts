/** Forms with dates, fractions or lists, written as their `encoding` says; operations without them do not load this. */
import { encode } from './encode.ts';
import type { WriteField } from './form.ts';
import { writeWith } from './writing.ts';
import type { Write } from './writing.ts';

/** How a type is called; the letter is how the generator writes it. */
const TYPES: Readonly<Record<string, string>> = {
  s: 'text',
  i: 'an integer',
  n: 'a number',
  b: 'true or false',
  d: 'a date',
  D: 'a date',
};

/**
 * Writes a field of any type: a letter, and for a list what joins its items (`_` for a space, `+` where the field is repeated).
 */
const writeRichField: WriteField = (name, [letter = '', joint], value, refuse) => {
  const items = joint ? (Array.isArray(value) ? value : [undefined]) : [value];
  const texts = items.map((item) => textOf(letter, item));
  if (texts.includes(undefined)) return void refuse(name, 'type', `must be ${joint ? 'a list, each ' : ''}${TYPES[letter]}`);
  const between = joint === '+' ? `&${name}=` : joint === ',' ? ',' : encodeURIComponent((joint ?? '').replace('_', ' '));
  return `${name}=${texts.join(between)}`;
};

/** The text of a value, percent-encoded; undefined where it is not of the type. */
function textOf(letter: string, value: unknown): string | undefined {
  // A date is written as one, and so is a text where a date is expected.
  const isDate = value instanceof Date && /d/i.test(letter) && !Number.isNaN(value.getTime());
  const fits =
    isDate ||
    (letter === 'i'
      ? Number.isSafeInteger(value)
      : letter === 'n'
        ? Number.isFinite(value)
        : typeof value === (letter === 'b' ? 'boolean' : 'string'));
  const text = isDate ? value.toISOString().slice(0, letter === 'D' ? 10 : 24) : String(value);
  return fits ? encode(text) : undefined;
}

/** In place of `write`. */
export const writeRich: Write = (facts, options, refuse) => writeWith(writeRichField, facts, options, refuse);
