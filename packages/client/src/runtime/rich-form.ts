/** Forms with dates, fractions or lists, written as their `encoding` says; operations without them do not load this. */
import { encode } from './encode.ts';
import { write } from './form.ts';
import type { Write, WriteValue } from './form.ts';

/** What joins the items of a list, by the word behind its type; `multi` repeats the field. */
const JOINTS: Readonly<Record<string, string>> = { csv: ',', ssv: '%20', pipes: '%7C' };

/** Writes a value of any type; that of a list is the type of its items, `_` and a word of `JOINTS` or `multi`. */
const writeAny: WriteValue = (type, value, name) => {
  const [item = '', joint] = type.split('_');
  const items = joint ? (Array.isArray(value) ? value : [undefined]) : [value];
  const texts = items.map((each) => textOf(item, each));
  return texts.includes(undefined) ? undefined : texts.join(JOINTS[joint ?? ''] ?? `&${name}=`);
};

/** The text of a value, percent-encoded; undefined where it is not of the type. */
function textOf(type: string, value: unknown): string | undefined {
  // A date is written as one, and so is a text where a date is expected.
  const isDate = value instanceof Date && /date|instant/.test(type) && !Number.isNaN(value.getTime());
  const fits =
    isDate ||
    (type === 'integer'
      ? Number.isSafeInteger(value)
      : type === 'number'
        ? Number.isFinite(value)
        : typeof value === (type === 'boolean' ? type : 'string'));
  const text = isDate ? value.toISOString().slice(0, type === 'date' ? 10 : 24) : String(value);
  return fits ? encode(text) : undefined;
}

/** In place of `write`. */
export const writeRich: Write = (meta, values, refuse) => write(meta, values, refuse, writeAny);
