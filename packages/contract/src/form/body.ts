import { NO_ISSUES } from '../document/issues.ts';
import { emptyRecord, isObject } from '../document/json.ts';
import type { Operation, RequestBody } from '../document/operation.ts';
import { readForm, writeForm } from './form.ts';
import type { FormReading } from './form.ts';

/** The parts of an `Operation` that describe its body. */
export type TakesBody = Pick<Operation, 'body' | 'form'>;

/** Serialises the fields of a request body. Fields that are undefined are left out. */
export function writeBody(operation: TakesBody, values: Readonly<Record<string, unknown>>): string {
  return operation.body?.format === 'json' ? JSON.stringify(values) : writeForm(operation, values);
}

/** Parses a request body into its fields. */
export function readBody(operation: TakesBody, text: string): FormReading {
  const values = emptyRecord<unknown>();
  // A text and a list have no fields.
  if (operation.body?.isWhole === true) return { values, issues: NO_ISSUES };
  if (operation.body?.format !== 'json') return readForm(operation, text);
  const malformed = { path: '', keyword: 'malformed', message: 'must be a JSON object', params: {}, schemaPath: '' };
  if (text === '') return { values, issues: [malformed] };
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { values: Object.assign(values, value), issues: NO_ISSUES } : { values, issues: [malformed] };
  } catch {
    return { values, issues: [malformed] };
  }
}

/** Whether all fields of a body are optional. */
export function needsNoField(body: RequestBody | undefined): boolean {
  return [...(body?.fields.values() ?? [])].every(({ required }) => !required);
}
