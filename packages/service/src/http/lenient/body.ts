/** Reads the bodies that a lenient service accepts as forms of the document. */
import { joinPointer, readForm, writeForm } from '@reseller/contract';
import type { FormField, FormReading, Issue, Operation } from '@reseller/contract';

import type { BodyReading } from '../form-body.ts';
import { readFormBody } from '../form-body.ts';
import type { Deviation } from './deviation.ts';
import { itemsOf, membersOf } from './members.ts';

export interface SentBody {
  readonly operation: Operation;
  readonly bytes: Uint8Array;
  /** Receives the deviations of the body. */
  readonly deviations: Set<Deviation>;
  /** Needed only for multipart bodies. */
  readonly contentType?: string;
}

export type LenientReader = (body: SentBody) => BodyReading | Promise<BodyReading>;

/** Texts that are accepted as booleans. */
const WORDS = new Map(['true', '1', 'yes', 'on'].map((word) => [word, true]));
for (const word of ['false', '0', 'no', 'off']) WORDS.set(word, false);

const JSON_OBJECT = "JSON. Send one object in UTF-8, whose members are the form's fields.";
const MULTIPART = 'multipart/form-data. Send the fields as texts in UTF-8, and no file.';

/** Reads a form whose booleans may be words other than `true` and `false`. */
export function readLenientForm({ operation, bytes, deviations }: SentBody): BodyReading {
  const read = readFormBody(operation, bytes);
  return { ...read, ...withBooleans(operation, read, deviations) };
}

/**
 * Reads a JSON object. Each member becomes a field of the form. Texts and numbers are written as a form would, and a member that is null is
 * left out. A value that a form cannot carry stays unchanged, so that validation refuses it.
 */
export function readJsonBody({ operation, bytes, deviations }: SentBody): BodyReading {
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

/** Reads multipart/form-data without files. */
export async function readMultipartBody({ operation, bytes, deviations, contentType = '' }: SentBody): Promise<BodyReading> {
  const fields = textOf(bytes) === undefined ? undefined : await formDataOf(bytes, contentType);
  const entries = [...(fields ?? [])];
  const pairs = entries.map(([name, value]) => pairOf(operation, name, value)).filter((pair) => pair !== undefined);
  if (!fields || pairs.length < entries.length) return malformed(MULTIPART);
  const read = readForm(operation, pairs.join('&'));
  return { ...withBooleans(operation, read, deviations), sent: read.values };
}

/** A field in the syntax of a form, or undefined if a form cannot carry the value. */
function pairOf(operation: Operation, name: string, value: unknown): string | undefined {
  try {
    return value === undefined ? undefined : writeForm(operation, { [name]: value });
  } catch (error) {
    // `writeForm` throws it for a value that a form cannot carry.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The value that is written to the form for a JSON value, or undefined if the field does not take such a value. */
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
      // 2.0 is an integer in JSON, but not in a form. A number without an exact value keeps its digits.
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

/** Returns undefined if the bytes are not UTF-8. */
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

function malformed(expected: string): BodyReading {
  const issue = { path: '', keyword: 'malformed', message: 'could not be read', params: {}, schemaPath: '' };
  return { values: emptyRecord(), issues: [issue], sent: emptyRecord(), expected };
}

/** Has no prototype, so that names such as `__proto__` are not special. */
function emptyRecord(): Record<string, unknown> {
  return Object.create(null);
}
