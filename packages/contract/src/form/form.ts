import { NO_ISSUES } from '../document/issues.ts';
import type { Issue } from '../document/issues.ts';
import { emptyRecord, isObject } from '../document/json.ts';
import type { Form, FormField, ScalarKind } from '../document/operation.ts';
import { joinPointer } from '../document/pointer.ts';

/** The result of reading a form. */
export interface FormReading {
  /** Fields by name, converted to their type where possible. The object has no prototype, so that no name is special. */
  readonly values: Readonly<Record<string, unknown>>;
  /** `malformed` for text that is not a form, `repeated` for a repeated field. The validator checks the schema. */
  readonly issues: readonly Issue[];
}

/** The part of an `Operation` that describes its form. */
export interface TakesForm {
  readonly form: Form | undefined;
}

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const MALFORMED = 'must be percent-encoded UTF-8, as application/x-www-form-urlencoded prescribes';

/**
 * Parses a form and converts fields to the types in the document. A value that does not match its type stays a string, so that
 * validation reports it. Without a described form, every field is a string.
 * @param body the body as received: bytes, or text already decoded from them
 */
export function readForm({ form }: TakesForm, body: string | Uint8Array): FormReading {
  const values = emptyRecord<unknown>();
  const text = typeof body === 'string' ? body : decodeUtf8(body);
  if (text === undefined || !text.isWellFormed()) return { values, issues: [issue('', 'malformed', MALFORMED)] };
  const reading: Reading = { values, issues: [], times: new Map() };
  const { issues } = reading;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const raw = equals < 0 ? '' : pair.slice(equals + 1);
    if (name === undefined) issues.push(issue('', 'malformed', `has a field whose name ${MALFORMED}`));
    else readField(form?.fields.get(name) ?? textField(name), raw, reading);
  }
  return { values, issues: issues.length === 0 ? NO_ISSUES : issues };
}

interface Reading {
  readonly values: Record<string, unknown>;
  readonly issues: Issue[];
  /** How often each field occurred, including malformed ones. */
  readonly times: Map<string, number>;
}

function readField(field: FormField, raw: string, { values, issues, times }: Reading): void {
  const { name } = field;
  const path = joinPointer('', name);
  const isList = field.kind === 'array' && field.separator === undefined;
  const before = times.get(name) ?? 0;
  times.set(name, before + 1);
  if (before > 0 && !isList) {
    if (before === 1) issues.push(issue(path, 'repeated', 'must be given only once'));
    return;
  }
  const value = field.kind === 'array' ? readItems(field, raw) : readScalar(field.kind, raw);
  const earlier = values[name];
  if (value === undefined) issues.push(issue(path, 'malformed', MALFORMED));
  else if (Array.isArray(earlier) && Array.isArray(value)) earlier.push(...value);
  else values[name] = value;
}

function readItems(field: FormField, raw: string): readonly unknown[] | undefined {
  // A comma in an item is percent-encoded, so the raw text is split. Other separators are always encoded.
  const texts =
    field.separator === undefined ? [raw] : field.separator === ',' ? raw.split(',') : decode(raw)?.split(field.separator).map(encode);
  const items = texts?.map((text) => readScalar(field.items, text));
  return items?.includes(undefined) === false ? items : undefined;
}

/** Converts a text to its kind. Returns the text itself when it does not match, and undefined when it is malformed. */
function readScalar(kind: FormField['kind'], raw: string): unknown {
  const text = decode(raw);
  if (text === undefined) return undefined;
  switch (kind) {
    case 'integer':
      // + 0 converts -0 to 0.
      return INTEGER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) + 0 : text;
    case 'number':
      return NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) + 0 : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'json':
      return readJson(text);
    default:
      return text;
  }
}

function readJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
}

/**
 * Serialises a form with the document's `encoding`. Fields that are undefined are left out. Everything except letters, digits and
 * `-._*` is percent-encoded, even with `allowReserved`, because every parser accepts that.
 * @throws {TypeError} when a form cannot carry a value: null, a lone surrogate, a number that is not finite, an object in a list
 */
export function writeForm({ form }: TakesForm, values: Readonly<Record<string, unknown>>): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const field = form?.fields.get(name) ?? textField(name);
    if (field.kind === 'unsupported') throw new TypeError(`The field ${name} has an encoding style that is not supported.`);
    for (const text of writeValue(field, value)) pairs.push(`${encode(name)}=${text}`);
  }
  return pairs.join('&');
}

function writeValue(field: FormField, value: unknown): readonly string[] {
  if (Array.isArray(value)) {
    const items = value.map((item) => writeScalar(field.name, item));
    if (field.separator === undefined || items.length === 0) return items;
    return [items.join(field.separator === ',' ? ',' : encode(field.separator))];
  }
  if (isObject(value) && field.kind === 'json') return [encode(JSON.stringify(value))];
  return [writeScalar(field.name, value)];
}

function writeScalar(name: string, value: unknown): string {
  const isWritable =
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value)) ||
    (typeof value === 'string' && value.isWellFormed());
  if (!isWritable)
    throw new TypeError(`The field ${name} cannot be written to a form: it must be a well-formed string, a finite number, true or false.`);
  return encode(String(value));
}

function textField(name: string): FormField {
  const kind: ScalarKind = 'string';
  return { name, pointer: '', required: false, kind, items: kind, separator: undefined, secret: false, isFile: false };
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns undefined when the text is not percent-encoded UTF-8. */
function decode(raw: string): string | undefined {
  const text = raw.includes('+') ? raw.replaceAll('+', ' ') : raw;
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/%20|[!'()~]/g, (found) =>
    found === '%20' ? '+' : `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function issue(path: string, keyword: string, message: string): Issue {
  return { path, keyword, message, params: {}, schemaPath: '' };
}
