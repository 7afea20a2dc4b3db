/** Forms: each value is checked against the type of its field, then encoded. Every other rule is the server's. */
import { isRecord } from './json.ts';
import type { FieldType, Operation } from './operation.ts';

export type Values = Readonly<Record<string, unknown>>;

/** Is called for each rule that the input breaks. The message continues "the field …". */
export type Refuse = (field: string, rule: string, message: string) => void;

/** Replaces a value that must not be shown. */
export const MASK = '***';

/** One field as it is sent, and as it may be shown in logs. */
export interface EncodedField {
  readonly name: string;
  /** Percent-encoded. */
  readonly text: string;
  /** Masked when it is secret or personal. */
  readonly shown: unknown;
}

const NOUNS: Readonly<Record<FieldType, string>> = {
  string: 'text',
  numeric: 'a number or its text',
  pairs: 'a text such as env=test, or an object of texts without = and commas',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

/** Encodes a form. Fields that are undefined are left out. */
export function encodeForm(
  { form = {}, openForm, required, needs, hidden = [] }: Operation,
  values: Values,
  refuse: Refuse,
): readonly EncodedField[] {
  const encoded: EncodedField[] = [];
  for (const [name, type] of Object.entries(form)) {
    const value = values[name];
    if (value === undefined) {
      if (required?.includes(name)) refuse(name, 'required', 'is required');
      continue;
    }
    for (const needed of needs?.[name] ?? []) if (values[needed] === undefined) refuse(needed, 'required', `is required with ${name}`);
    const isHidden = hidden.includes(name) || hasCredentials(value);
    const text = isOfType(type, value) ? encodeText(textOf(value)) : undefined;
    if (text === undefined) refuse(name, 'type', `must be ${NOUNS[type]}${isHidden ? '' : `, got ${display(value)}`}`);
    else encoded.push({ name, text, shown: isHidden ? MASK : value });
  }
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || Object.hasOwn(form, name)) continue;
    const text = openForm && name.isWellFormed() ? encodeText(String(value)) : undefined;
    if (text === undefined) refuse(name, 'unknown', `is not a field of this form. Its fields are ${Object.keys(form).join(', ')}`);
    else encoded.push({ name, text, shown: hidden.includes(name) || hasCredentials(value) ? MASK : value });
  }
  return encoded;
}

/** Whether a value is an address with a password in it. */
function hasCredentials(value: unknown): boolean {
  return /^\w+:\/\/[^/?#]*@/.test(String(value));
}

/** The body of a form. Null when it has no field. */
export function formText(fields: readonly Pick<EncodedField, 'name' | 'text'>[]): string | null {
  return fields.map(({ name, text }) => `${encodeText(name)}=${text}`).join('&') || null;
}

/** The text of a value of a field. An object becomes pairs. */
function textOf(value: unknown): string {
  if (!isRecord(value)) return String(value);
  return Object.entries(value)
    .map(([key, text]) => `${key}=${String(text)}`)
    .join(',');
}

/** Whether a value may be given for pairs. A comma or an equals sign in a key or a text would make other pairs of it. */
function isOfPairs(value: unknown): boolean {
  if (!isRecord(value)) return typeof value === 'string';
  return Object.entries(value).every(([key, text]) => typeof text === 'string' && !/[=,]/.test(key + text));
}

function isOfType(type: FieldType, value: unknown): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'pairs') return isOfPairs(value);
  if (type === 'numeric') return typeof value === 'string' || Number.isFinite(value);
  return type === 'number' ? Number.isFinite(value) : typeof value === type;
}

/** Percent-encodes a text, including the quote that would end an argument of a command line. Undefined if it has a lone surrogate. */
export function encodeText(text: string): string | undefined {
  return text.isWellFormed() ? encodeURIComponent(text).replaceAll("'", '%27') : undefined;
}

/** A value for an error message. */
export function display(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value);
}
