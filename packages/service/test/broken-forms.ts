/** Every rule of a form broken once. */
import { writeForm } from '@reseller/contract';

import type { OperationId } from '../src/reseller/operation.ts';
import { formRules } from './form-rules.ts';
import type { FieldRules } from './form-rules.ts';
import { apiOf } from './operations.ts';

/** A form that breaks rules of one field. A response must name all of them. */
export interface BrokenForm {
  /** Description of the mistake. */
  readonly what: string;
  readonly body: string;
  readonly field: string;
  readonly rules: readonly string[];
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
/** Strings that are not integers, although some languages and libraries parse them as one. */
const NO_INTEGERS = ['', 'two', '1.5', '1e1', '0x10', '+1', ' 1', '1_000', '9007199254740993', '-9223372036854775809', 'NaN', '٢'];
const MAX_INT32 = 2_147_483_647;
/** Texts that are valid in few or none of the fields with a pattern. */
const BAD_TEXTS = ['my host', 'a..b', '-a', 'a_b', 'abc', '1.2.3.4', 'ssh-ed25519 AAAA!', 'abc\n'];
const NO_BOOLEANS = ['', '1', '0', 'yes', 'TRUE', 'null'];

/** Fields that exclude another one, which the good form has instead. */
const ALTERNATIVES: ReadonlySet<string> = new Set(['ssh_key_id']);

/**
 * The forms of an operation that break one rule each, derived from a valid form.
 *
 * @param good A valid form with every field that does not exclude another one.
 */
export function brokenForms(id: OperationId, good: Readonly<Record<string, unknown>>): BrokenForm[] {
  const { operation } = apiOf(id);
  const { fields, required, needs } = formRules(id);
  const unused = [...fields.keys()].filter((name) => good[name] === undefined && !ALTERNATIVES.has(name));
  if (unused.length > 0) throw new Error(`The good form of ${id} lacks ${unused.join(', ')}.`);
  const write = (changed: Readonly<Record<string, unknown>>): string => writeForm(operation, { ...good, ...changed });
  return [
    ...required.map((field) => ({ what: `${field} missing`, body: write({ [field]: undefined }), field, rules: ['required'] })),
    ...needs
      .filter(([, field]) => !required.includes(field))
      .map(([name, field]) => ({
        what: `${name} without ${field}`,
        body: write({ [field]: undefined }),
        field,
        rules: ['dependentRequired'],
      })),
    ...[...fields].flatMap(([field, rules]) =>
      badValues(rules).map((value) => ({
        what: `${field}=${value.slice(0, 40)}`,
        body: write({ [field]: value }),
        field,
        rules: brokenBy(value, rules),
      })),
    ),
    ...[...fields.keys()].map((field) => ({
      what: `${field} twice`,
      body: `${write({ [field]: good[field] ?? 'other' })}&${writeForm(operation, { [field]: good[field] ?? 'other' })}`,
      field,
      rules: ['repeated'],
    })),
    ...['nobody_knows_this', '__proto__', 'constructor', `${[...fields.keys()][0]}[]`].map((field) => ({
      what: `the unknown field ${field}`,
      body: `${write({})}&${encodeURIComponent(field)}=1`,
      field,
      rules: ['unknown'],
    })),
  ];
}

/** For each rule of a field, texts that break it. */
function badValues(rules: FieldRules): string[] {
  const { type, minimum, maximum, multipleOf, minLength, maxLength, pattern, format } = rules;
  if (type === 'boolean') return NO_BOOLEANS;
  if (type === 'integer')
    return [
      ...NO_INTEGERS,
      ...(minimum === undefined ? [] : [String(minimum - 1), '-9007199254740991']),
      ...(maximum === undefined ? [] : [String(maximum + (multipleOf ?? 1))]),
      ...(multipleOf === undefined ? [] : [String(multipleOf * 2 + 1)]),
      ...(format === 'int32' ? [String(MAX_INT32 + (multipleOf ?? 1))] : []),
    ];
  const values: string[] = [];
  if (minLength !== undefined && minLength > 0) values.push('x'.repeat(minLength - 1));
  if (maxLength !== undefined) values.push('x'.repeat(maxLength + 1));
  const length = Math.max(1, minLength ?? 1);
  if (pattern !== undefined) values.push(...['!', ' ', '\u0007', '\u0000'].map((character) => character.repeat(length)));
  if (format !== undefined) values.push('x'.repeat(length));
  values.push(...BAD_TEXTS);
  return values.filter((value) => brokenBy(value, rules).length > 0);
}

/** The rules that a text breaks. */
export function brokenBy(
  text: string,
  { type, minimum, maximum, multipleOf, minLength, maxLength, pattern, format }: FieldRules,
): string[] {
  if (type === 'boolean') return text === 'true' || text === 'false' ? [] : ['type'];
  if (type === 'integer') {
    if (NO_INTEGERS.includes(text)) return ['type'];
    const value = Number(text);
    const bounds = [...(value < (minimum ?? -Infinity) ? ['minimum'] : []), ...(value > (maximum ?? Infinity) ? ['maximum'] : [])];
    const rest = value % (multipleOf ?? 1) === 0 ? [] : ['multipleOf'];
    if (bounds.length > 0 || format === undefined) return [...bounds, ...rest];
    if (format !== 'int32') throw new Error(`The format ${format} is new: say in broken-forms.ts what it takes.`);
    return Math.abs(value) > MAX_INT32 ? ['format', ...rest] : rest;
  }
  const { length } = [...text];
  if (format !== undefined && format !== 'email') throw new Error(`The format ${format} is new: say in broken-forms.ts what it takes.`);
  // The service reports a mistake once, by the most specific rule.
  if (length > (maxLength ?? Infinity)) return ['maxLength'];
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) return ['pattern'];
  if (format === 'email' && !EMAIL.test(text)) return ['format'];
  return length < (minLength ?? 0) ? ['minLength'] : [];
}
