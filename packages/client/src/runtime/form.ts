/** Forms: what is given is checked and written, by the document's types. */
import { encode } from './encode.ts';

/** Values by field. */
export type Values = Readonly<Record<string, unknown>>;

/** Is told of a field that breaks a rule. */
export type Refuse = (field: string, rule: string, message: string) => void;

/** Writes a field that is given, or refuses it. */
export type WriteField = (name: string, type: string, value: unknown, refuse: Refuse) => string | undefined;

/** A form as it is sent, and without secrets as it may be shown. */
export interface WrittenForm {
  readonly body: string;
  readonly shown: Values;
  readonly shownBody: string;
}

/** What stands in place of a secret. */
export const MASK = '***';

/**
 * Writes a form. Fields that are undefined are left out.
 *
 * @param kinds A text for each field, as the generator writes it: its name, `=`, its type, then `!` where it is required, `*` where it
 *   is secret, and behind `>` each field that it needs.
 * @param refuse Is told what is wrong, by field; nothing may be sent then.
 */
export function writeForm(kinds: readonly string[], values: Values, refuse: Refuse, writeField: WriteField = writeScalar): WrittenForm {
  const unknown = { ...values };
  const shown: Record<string, unknown> = {};
  const body: string[] = [];
  const shownBody: string[] = [];
  for (const kind of kinds) {
    const [, name = '', type = '', required, secret, needs = ''] = /(.+?)=([^!*>]+)(!?)(\*?)(.*)/.exec(kind) ?? [];
    const value = unknown[name];
    delete unknown[name];
    if (value !== undefined) {
      for (const needed of needs.split('>'))
        if (needed && values[needed] === undefined) refuse(needed, 'required', `is required with ${name}`);
      const text = writeField(name, type, value, refuse);
      if (text) {
        body.push(text);
        shownBody.push(secret ? `${name}=${MASK}` : text);
        shown[name] = secret ? MASK : value;
      }
    } else if (required) refuse(name, 'required', 'is required');
  }
  for (const [name, value] of Object.entries(unknown)) if (value !== undefined) refuse(name, 'unknown', 'is not a field of this form');
  return { body: body.join('&'), shown, shownBody: shownBody.join('&') };
}

/** How a type is called; the first letter is how the generator writes it. */
const TYPES: Readonly<Record<string, string>> = { s: 'string', i: 'integer', b: 'boolean' };

/** Writes a text, a whole number, or true or false. */
const writeScalar: WriteField = (name, letter, value, refuse) => {
  const type = TYPES[letter];
  const text = (letter === 'i' ? Number.isSafeInteger(value) : typeof value === type) ? encode(String(value)) : undefined;
  return text === undefined ? void refuse(name, 'type', `must be of type ${type}`) : `${name}=${text}`;
};
