import { isCreation } from '../document/creation.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { isObject, member } from '../document/json.ts';
import type { Operation } from '../document/operation.ts';
import { folderOf } from '../document/path-template.ts';
import { valueAt } from '../document/pointer.ts';
import type { BodyValues, RequestSource } from './sendable.ts';
import type { StepForm } from './step.ts';

/**
 * Makes a form from an example. A field with the schema of a path parameter is an identifier. If it identifies the resource that the
 * operation creates, it gets a new value; else its value comes from earlier responses.
 * @param asWritten a field that is not replaced, because it is invalid on purpose
 */
export function stepForm(
  { document, operations, seed }: Pick<RequestSource, 'document' | 'operations' | 'seed'>,
  operation: Operation,
  { values: example, isFromDocument }: BodyValues,
  asWritten = '',
): StepForm {
  const values: Record<string, unknown> = { ...example };
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(example)) {
    const field = operation.body?.fields.get(name);
    const reference = field === undefined ? undefined : referenceAt(document, field.pointer);
    const named = reference === undefined ? undefined : parameterOf(document, operations, reference);
    if (named === undefined || typeof value !== 'string' || name === asWritten) continue;
    if (named.folder === folderOf(operation.path) && chooses(operation, operations)) values[name] = withUniquePrefix(value, seed);
    else found[name] = named.name;
  }
  return { values, found, isFromDocument };
}

/**
 * Whether an operation creates the resource that a field of its form identifies. If another operation creates in the same folder, this one works on what
 * exists: `POST …/backup/restore` next to `POST …/backup/create`.
 */
function chooses(operation: Operation, operations: readonly Operation[]): boolean {
  if (isCreation(operation, operations)) return true;
  return !operations.some((other) => folderOf(other.path) === folderOf(operation.path) && isCreation(other, operations));
}

/** The path parameter with a schema: its name, and the path of its collection. */
function parameterOf(
  document: OpenApiDocument,
  operations: readonly Operation[],
  reference: string,
): { readonly name: string; readonly folder: string } | undefined {
  for (const { path, parameters } of operations) {
    for (const { name, in: place, pointer } of parameters) {
      if (place !== 'path' || pointer === undefined || referenceAt(document, pointer) !== reference) continue;
      return { name, folder: path.slice(0, path.indexOf(`/{${name}}`)) };
    }
  }
  return undefined;
}

function referenceAt(document: OpenApiDocument, pointer: string): string | undefined {
  const schema = valueAt(document, pointer);
  const reference = isObject(schema) ? member(schema, '$ref') : undefined;
  return typeof reference === 'string' ? reference : undefined;
}

/** Adds a prefix that is unique to the run to a host name. Other values stay the same, because a prefix could make them invalid. */
function withUniquePrefix(value: string, seed: number): string {
  return /^[a-z0-9-]+\.[a-z0-9.-]+$/i.test(value) ? `contract-${seed.toString(36)}-${value}` : value;
}
