/** Fields of forms: what is given is checked and written, by the document's types. */
import { encode } from './encode.ts';

/** Values by field. */
export type Values = Readonly<Record<string, unknown>>;

/** Is told of a field that breaks a rule. */
export type Refuse = (field: string, rule: string, message: string) => void;

/** Writes a field that is given, or refuses it. */
export type WriteField = (name: string, type: string, value: unknown, refuse: Refuse) => string | undefined;

/** How a type is called; the first letter is how the generator writes it. */
const TYPES: Readonly<Record<string, string>> = { s: 'string', i: 'integer', b: 'boolean' };

/** Writes a text, a whole number, or true or false. */
export const writeField: WriteField = (name, letter, value, refuse) => {
  const type = TYPES[letter];
  const text = (letter === 'i' ? Number.isSafeInteger(value) : typeof value === type) ? encode(String(value)) : undefined;
  if (text !== undefined) return `${name}=${text}`;
  return void refuse(name, 'type', `must be of type ${type}`);
};
