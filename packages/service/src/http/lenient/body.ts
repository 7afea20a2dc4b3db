/** Bodies that are no forms of the document, read as if they were; where the service is lenient. */
import { joinPointer, readForm, writeForm } from '@reseller/contract';
import type { FormField, FormReading, Issue, Operation } from '@reseller/contract';

import type { Deviation } from './deviation.ts';
import { itemsOf, membersOf } from './members.ts';

/** What a body says. */
export interface LenientReading extends FormReading {
  /** The fields as they were sent, for the log. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** What a body that could not be read was expected to be, and how it is sent; undefined for a form. */
  readonly expected?: string;
}

/** A body, and where its deviations are noted. */
export interface SentBody {
  readonly operation: Operation;
  readonly bytes: Uint8Array;
  readonly deviations: Set<Deviation>;
}

/** Words for a boolean, beside `true` and `false` as a form has them. */
const WORDS = new Map(['true', '1', 'yes', 'on'].map((word) => [word, true]));
for (const word of ['false', '0', 'no', 'off']) WORDS.set(word, false);

const JSON_OBJECT = "JSON. Send one object in UTF-8, whose members are the form's fields.";
const MULTIPART = 'multipart/form-data. Send the fields as texts in UTF-8, and no file.';

/** A form whose booleans may be other words. */
export function readLenientForm({ operation, bytes, deviations }: SentBody): LenientReading {
  const read = readForm(operation, bytes);
  return { ...withBooleans(operation, read, deviations), sent: read.values };
}

/**
 * A JSON object, member by member as a field of the document's form: a text or a number is what it
 * would be in the form, null is a field that is left out, and what a form cannot carry (an object
 * for a number) stays what it is, so that validation names it.
 */
export function readJsonBody({ operation, bytes, deviations }: SentBody): LenientReading {
  const json = textOf(bytes);
  const members = json?.trim() === '' ? [] : json === undefined ? undefined : membersOf(json);
  if (!members) return malformed(JSON_OBJECT);
  const pairs: string[] = [];
  const twice = new Set<string>();
  const [sent, others] = [emptyRecord(), emptyRecord()];
  for (const { name, text } of members) {
    const value: unknown = JSON.parse(text);
    if (![name, value].every((part) => typeof part !== 'string' || part.isWellFormed())) return malformed(JSON_OBJECT);
    if (Object.hasOwn(sent, name)) twice.add(name);
    sent[name] = value;
    const field = operation.form?.fields.get(name);
    if ((value === null && field) || twice.has(name)) continue;
    const pair = pairOf(operation, name, formValue(field, text, value));
    if (pair === undefined) others[name] = value;
    else pairs.push(pair);
    if (field?.kind === 'boolean' && typeof value !== 'boolean' && WORDS.has(String(value).toLowerCase())) deviations.add('boolean-text');
  }
  const read = withBooleans(operation, readForm(operation, pairs.join('&')), deviations);
  return { values: Object.assign(emptyRecord(), read.values, others), issues: [...read.issues, ...[...twice].map(repeated)], sent };
}

/** Fields as multipart/form-data; a file is none. */
export async function readMultipartBody({ operation, bytes, deviations }: SentBody, contentType: string): Promise<LenientReading> {
  const fields = textOf(bytes) === undefined ? undefined : await formDataOf(bytes, contentType);
  const entries = [...(fields ?? [])];
  const pairs = entries.map(([name, value]) => pairOf(operation, name, value)).filter((pair) => pair !== undefined);
  if (!fields || pairs.length < entries.length) return malformed(MULTIPART);
  const read = readForm(operation, pairs.join('&'));
  return { ...withBooleans(operation, read, deviations), sent: read.values };
}

/** A field as a form carries it; undefined where a form cannot. */
function pairOf(operation: Operation, name: string, value: unknown): string | undefined {
  try {
    return value === undefined ? undefined : writeForm(operation, { [name]: value });
  } catch (error) {
    // What it throws for a value that no form can carry.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** What of a JSON value is written to a form; undefined where the field does not take such a value. */
function formValue(field: FormField | undefined, json: string, value: unknown): unknown {
  const kind = field?.kind ?? 'string';
  if (field && Array.isArray(value) && kind === 'array') {
    const items = itemsOf(json)?.map((item) => formScalar(field.items, item, JSON.parse(item)));
    return items?.includes(undefined) === false ? items : undefined;
  }
  return kind === 'json' && typeof value === 'object' ? value : formScalar(kind, json, value);
}

function formScalar(kind: FormField['kind'], json: string, value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      // 2.0 is an integer in JSON, and in a form it is not. Where a number cannot be told exactly, its digits stay.
      return kind === 'integer' && Number.isSafeInteger(value) ? value : json;
    case 'boolean':
      return kind === 'boolean' ? value : undefined;
    default:
      return undefined;
  }
}

function withBooleans(operation: Operation, { values, issues }: FormReading, deviations: Set<Deviation>): FormReading {
  const typed = emptyRecord();
  for (const [name, value] of Object.entries(values)) {
    const isWord = operation.form?.fields.get(name)?.kind === 'boolean' && typeof value === 'string';
    const boolean = isWord ? WORDS.get(value.toLowerCase()) : undefined;
    if (boolean !== undefined) deviations.add('boolean-text');
    typed[name] = boolean ?? value;
  }
  return { values: typed, issues };
}

/** Undefined where the bytes are not UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

async function formDataOf(bytes: Uint8Array, contentType: string): Promise<FormData | undefined> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
  } catch {
    return undefined;
  }
}

function repeated(name: string): Issue {
  const path = joinPointer('', name);
  return { path, keyword: 'repeated', message: 'must be given only once', params: {}, schemaPath: '' };
}

function malformed(expected: string): LenientReading {
  const issue = { path: '', keyword: 'malformed', message: 'could not be read', params: {}, schemaPath: '' };
  return { values: emptyRecord(), issues: [issue], sent: emptyRecord(), expected };
}

/** Without a prototype, so that no name is special. */
function emptyRecord(): Record<string, unknown> {
  return Object.create(null);
}
