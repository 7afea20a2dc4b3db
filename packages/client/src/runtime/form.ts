/** Forms: what is given is checked and written, by the document's types and `encoding`. */
import { encode } from './encode.ts';
import { redact } from './redact.ts';

/** Values by field. */
export type Values = Readonly<Record<string, unknown>>;

/** Is told of a field that breaks a rule. */
export type Refuse = (field: string, rule: string, message: string) => void;

/** What is needed of forms; given by the operations that have one, so that a program without holds none of it. */
export interface Forms {
  readonly write: typeof writeForm;
  readonly redact: typeof redact;
}

/**
 * Writes a form. Fields that are undefined are left out.
 *
 * @param kinds A text for each field, as the generator writes it: its name, `=`, a letter for its type, `!` where it is required, what
 *   joins the items of a list (`_` for a space, `*` where the field is repeated), and behind `>` each field that it needs.
 * @param refuse Is told what is wrong, by field; nothing may be sent then.
 */
export function writeForm(kinds: readonly string[], values: Values, refuse: Refuse): string {
  const rules = new Map(
    kinds.map((kind) => {
      const [, name = '', ...rule] = /(.+?)=(.)(!?)([^>]?)(.*)/.exec(kind) ?? [];
      return [name, rule];
    }),
  );
  const pairs: string[] = [];
  for (const name of new Set([...Object.keys(values), ...rules.keys()])) {
    const [letter = '', required, joint = '', needs = ''] = rules.get(name) ?? [];
    const value = values[name];
    if (value === undefined) {
      if (required) refuse(name, 'required', 'is required');
    } else if (letter) {
      for (const needed of needs.split('>'))
        if (needed && values[needed] === undefined) refuse(needed, 'required', `is required with ${name}`);
      const texts = (joint ? (Array.isArray(value) ? value : [undefined]) : [value]).map((item) => written(letter, item));
      if (texts.includes(undefined)) refuse(name, 'type', `must be ${joint && 'a list, each '}${KINDS[letter] ?? 'a date'}`);
      else
        pairs.push(
          `${name}=${texts.join(joint === '*' ? `&${name}=` : joint === ',' ? ',' : encodeURIComponent(joint.replace('_', ' ')))}`,
        );
    } else refuse(name, 'unknown', 'is not a field of this form');
  }
  return pairs.join('&');
}

const KINDS: Readonly<Record<string, string>> = { s: 'text', i: 'an integer', n: 'a number', b: 'true or false' };

/** The text of a value, percent-encoded; undefined where it is not of the kind. */
function written(kind: string, value: unknown): string | undefined {
  // A date is written as one, and so is a text where a date is expected.
  const isDate = value instanceof Date && /d/i.test(kind) && +value === +value;
  const fits =
    isDate ||
    (kind === 'i'
      ? Number.isSafeInteger(value)
      : kind === 'n'
        ? Number.isFinite(value)
        : typeof value === (kind === 'b' ? 'boolean' : 'string'));
  const text = isDate ? value.toISOString().slice(0, kind === 'D' ? 10 : 24) : String(value);
  return fits && text.isWellFormed() ? encode(text) : undefined;
}

export const FORMS: Forms = { write: writeForm, redact };
