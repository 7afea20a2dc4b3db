import { DocumentError, parseDocument } from '../document/document.ts';
import type { OpenApiDocument } from '../document/document.ts';
import type { Operation } from '../document/operation.ts';
import { surveyOperations } from '../document/operations.ts';
import type { UnreadableOperation } from '../document/operations.ts';
import { createValidator } from '../document/validator.ts';
import type { Validator } from '../document/validator.ts';
import { rootView } from '../document/view.ts';
import { jsonOf } from '../exchange/exchange.ts';
import { visitViews } from './applies.ts';

/** A document with compiled schemas, so that an invalid schema cannot abort a run. */
export interface UsableDocument {
  readonly document: OpenApiDocument;
  /** All operations, including unusable ones. */
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  /** Operations that can neither be called nor judged, with the reason. */
  readonly unusable: ReadonlyMap<string, string>;
  /** Notes about the document for readers of a report. */
  readonly notes: readonly string[];
}

/** The operations whose schemas are compiled. The references of the others are only followed. */
type Judged = 'all' | 'reading';

/** A cache, because compiling takes most of the time of a short run, and a process may run several times with one document. */
const known = { all: new WeakMap<OpenApiDocument, UsableDocument>(), reading: new WeakMap<OpenApiDocument, UsableDocument>() };

/**
 * Reads a document and compiles its schemas, once for each document.
 * @throws {DocumentError} when it is not an OpenAPI 3.1 document
 */
export function readUsable(given: OpenApiDocument, judged: Judged = 'all'): UsableDocument {
  const usable = known[judged].get(given) ?? compileDocument(given, judged);
  known[judged].set(given, usable);
  return usable;
}

function compileDocument(given: OpenApiDocument, judged: Judged): UsableDocument {
  const document = parseDocument(given);
  const { operations: readable, unreadable } = surveyOperations(document);
  const validator = createValidator(document, { brief: true, lenient: true });
  const unusable = new Map(unreadable.map(({ id, reason }) => [id, `its description is invalid: ${reason}`]));
  for (const operation of readable) {
    const problem = problemOf(document, judged === 'all' || operation.readOnly ? validator : undefined, operation);
    if (problem !== undefined) unusable.set(operation.id, `one of its schemas is invalid: ${problem}`);
  }
  return { document, operations: [...readable, ...unreadable.map(stubOf)], validator, unusable, notes: validator.notes() };
}

function problemOf(document: OpenApiDocument, validator: Validator | undefined, operation: Operation): string | undefined {
  try {
    for (const pointer of schemasIn(operation)) {
      validator?.compile(pointer);
      visitViews(rootView(document, pointer), () => false);
    }
    return undefined;
  } catch (error) {
    // An invalid regular expression in a pattern is a SyntaxError.
    if (error instanceof DocumentError || error instanceof SyntaxError) return error.message;
    throw error;
  }
}

function schemasIn({ parameters, body, responses }: Operation): readonly string[] {
  const inResponses = Object.values(responses).flatMap((response) => [
    jsonOf(response)?.pointer,
    ...Object.values(response.headers).map(({ pointer }) => pointer),
  ]);
  return [...parameters.map(({ pointer }) => pointer), body?.pointer, ...inResponses].filter((pointer) => pointer !== undefined);
}

/** A placeholder for an operation of which only method and path are known. */
function stubOf({ id, method, path, pointer }: UnreadableOperation): Operation {
  return {
    id,
    method,
    path,
    pointer,
    summary: '',
    tag: undefined,
    provenance: 'shown',
    billable: false,
    readOnly: false,
    retry: 'never',
    security: undefined,
    unsupportedSecurity: undefined,
    parameters: [],
    body: undefined,
    form: undefined,
    unsupportedBody: undefined,
    responses: {},
  };
}
