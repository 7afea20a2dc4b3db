/** Forms: what is given is checked and written, by the document's types. */
import { encode } from './encode.ts';
import type { Meta } from './options.ts';

/** Values by field. */
export type Values = Readonly<Record<string, unknown>>;

/** Is told of a field that breaks a rule; the message completes "the field is …", and is the rule where it is left out. */
export type Refuse = (field: string, rule: string, message?: string) => void;

/** What stands in place of a secret. */
export const MASK = '***';

/** A form that is written: texts of its fields, as they are sent and without secrets, and its values without secrets. */
export interface Written {
  readonly form: Values;
  readonly sent: string[];
  readonly shown: readonly string[];
}

/**
 * Writes a form. Fields that are undefined are left out.
 *
 * @param meta Facts of the operation. For each field they hold a word: `.` and its name, `?` where it may be left out, `:` and its type where
 *   that is not `string`, `*` where it is secret, `>` and the field that it needs.
 * @param refuse Is told what is wrong, by field; nothing may be sent then.
 */
export type Write = (meta: Meta, values: Values, refuse: Refuse) => Written;

/** The text of a value, percent-encoded; undefined where it is not of the type. */
export type WriteValue = (type: string, value: unknown, name: string) => string | undefined;

/** For texts, whole numbers, true and false. */
const writePlain: WriteValue = (type, value) =>
  (type === 'integer' ? Number.isSafeInteger(value) : typeof value === type) ? encode(String(value)) : undefined;

/** @param writeValue Writes a value of a type that the form has. */
export const write = (meta: Meta, values: Values, refuse: Refuse, writeValue: WriteValue = writePlain): Written => {
  const unknown: Record<string, unknown> = { ...values };
  const form: Record<string, unknown> = {};
  const sent: string[] = [];
  const shown: string[] = [];
  for (const [, name = '', optional, type = 'string', secret, needed = ''] of meta.matchAll(/\.(\w+)(\??)(?::(\w+))?(\*?)>?(\w*)/g)) {
    const value = unknown[name];
    delete unknown[name];
    if (value !== undefined) {
      if (needed && values[needed] === undefined) refuse(needed, 'required', `required with ${name}`);
      const text = writeValue(type, value, name);
      if (text === undefined) refuse(name, 'type', `no ${type}`);
      form[name] = secret ? MASK : value;
      sent.push(`${name}=${text}`);
      shown.push(`${name}=${secret ? MASK : text}`);
    } else if (!optional) refuse(name, 'required');
  }
  for (const name in unknown) if (unknown[name] !== undefined) refuse(name, 'unknown');
  return { form, sent, shown };
};
