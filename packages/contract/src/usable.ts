import { visitViews } from './applies.ts';
import { DocumentError, parseDocument } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import { jsonOf } from './exchange.ts';
import type { Operation } from './operation.ts';
import { surveyOperations } from './operations.ts';
import type { UnreadableOperation } from './operations.ts';
import { createValidator } from './validator.ts';
import type { Validator } from './validator.ts';
import { rootView } from './view.ts';

/** A document of which every schema that is used was compiled, so that nothing in it can end a run. */
export interface UsableDocument {
  readonly document: OpenApiDocument;
  /** All operations, also those that cannot be used. */
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  /** Operations that can neither be called nor judged, with the reason. */
  readonly unusable: ReadonlyMap<string, string>;
  /** What readers of a report should know of the document. */
  readonly notes: readonly string[];
}

/** Operations whose responses are judged. The schemas of the others are followed and not compiled. */
type Judged = 'all' | 'reading';

/** Compiling takes most of the time of a short run, and a process may run many times with one document. */
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
  const unusable = new Map(unreadable.map(({ id, reason }) => [id, `the document does not describe it properly: ${reason}`]));
  for (const operation of readable) {
    const problem = problemOf(document, judged === 'all' || operation.readOnly ? validator : undefined, operation);
    if (problem !== undefined) unusable.set(operation.id, `a schema of it cannot be used: ${problem}`);
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

/** An operation of which nothing but its address is known. */
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
