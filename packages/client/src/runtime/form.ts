/** Forms: each value is checked against the type of its field, then encoded. */
import type { FieldError } from '../generated/types.gen.ts';
import type { Field, FieldType } from './operation.ts';

export type Values = Readonly<Record<string, unknown>>;

/** Is called for each rule that the input breaks. */
export type Refuse = (field: string, rule: FieldError['rule'], message: string) => void;

/** Replaces a value that must not be shown. */
export const MASK = '***';

/** One field as it is sent, and as it may be shown in logs. */
export interface EncodedField {
  readonly name: string;
  /** `name=value`, percent-encoded. */
  readonly sent: string;
  /** The same with secrets masked, and personal data too. */
  readonly shown: string;
  /** The value, masked likewise. */
  readonly value: unknown;
}

/**
 * Encodes a form. Fields that are undefined are left out.
 *
 * @param showPersonal Whether personal data may be shown.
 */
export function encodeForm(
  fields: Readonly<Record<string, Field>>,
  values: Values,
  refuse: Refuse,
  showPersonal = false,
): readonly EncodedField[] {
  const encoded: EncodedField[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const value = values[name];
    if (value === undefined) {
      if (field.required) refuse(name, 'required', 'is required');
      continue;
    }
    for (const needed of field.needs ?? []) {
      if (values[needed] === undefined) refuse(needed, 'required', `is required with ${name}`);
    }
    const isMasked = field.secret || (field.personal && !showPersonal);
    const text = encodeField(name, field, value);
    if (text === undefined) refuse(name, 'type', `must be ${NOUNS[field.type]}${isMasked ? '' : `, got ${display(value)}`}`);
    else encoded.push({ name, sent: text, shown: isMasked ? `${name}=${MASK}` : text, value: isMasked ? MASK : value });
  }
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && !Object.hasOwn(fields, name)) {
      refuse(name, 'unknown', `is not a field of this form. Its fields are ${Object.keys(fields).join(', ')}`);
    }
  }
  return encoded;
}

/** Returns undefined when the value is not of the type. */
function encodeField(name: string, { type, separator }: Field, value: unknown): string | undefined {
  if (separator === undefined) {
    const text = encodeValue(type, value);
    return text === undefined ? undefined : `${name}=${text}`;
  }
  if (!Array.isArray(value)) return undefined;
  const texts = value.map((item) => encodeValue(type, item));
  if (texts.includes(undefined)) return undefined;
  if (separator === '&') return texts.map((text) => `${name}=${text}`).join('&');
  return `${name}=${texts.join(separator === ',' ? ',' : encodeURIComponent(separator))}`;
}

function encodeValue(type: FieldType, value: unknown): string | undefined {
  if (value instanceof Date && (type === 'date' || type === 'date-time')) {
    if (Number.isNaN(value.getTime())) return undefined;
    return encodeText(value.toISOString().slice(0, type === 'date' ? 10 : 24));
  }
  return isOfType(type, value) ? encodeText(String(value)) : undefined;
}

function isOfType(type: FieldType, value: unknown): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'number') return Number.isFinite(value);
  return typeof value === (type === 'boolean' ? 'boolean' : 'string');
}

/** Percent-encodes a text, including the quote that would end an argument of a command line. Undefined when half a character is in it. */
export function encodeText(text: string): string | undefined {
  return text.isWellFormed() ? encodeURIComponent(text).replaceAll("'", '%27') : undefined;
}

const NOUNS: Readonly<Record<FieldType, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  date: 'a date',
  'date-time': 'a date',
};

/** A value for an error message. */
export function display(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  return typeof value === 'object' && value !== null ? (Array.isArray(value) ? 'an array' : 'an object') : String(value);
}
