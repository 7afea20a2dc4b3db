import { DocumentError, parseDocument } from '../document/document.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { UNDESCRIBED } from '../document/operation.ts';
import type { Operation } from '../document/operation.ts';
import { surveyOperations } from '../document/operations.ts';
import { createValidator } from '../document/validator.ts';
import type { Validator } from '../document/validator.ts';
import { rootView, visitViews } from '../document/view.ts';
import { jsonOf } from '../exchange/exchange.ts';

/** A document whose schemas are compiled when an operation needs them, so that an invalid schema cannot abort a run. */
export interface UsableDocument {
  readonly document: OpenApiDocument;
  /** All operations, including unusable ones. */
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  /** Operations that can neither be called nor judged, with the reason. Compiling adds to them. */
  readonly unusable: ReadonlyMap<string, string>;
  /** Prepares parts of an operation, each once. Returns whether the operation is usable. */
  prepare(operation: Operation, ...parts: readonly Part[]): boolean;
  /** Notes about the document for readers of a report. */
  notes(): readonly string[];
}

/** The schemas to compile: of parameters, of the body, of responses. Or the references in responses, which are only followed. */
export type Part = 'parameters' | 'body' | 'references' | 'responses';

/** A cache, because compiling takes most of the time of a short run, and a process may run several times with one document. */
const known = new WeakMap<OpenApiDocument, UsableDocument>();

/**
 * Reads a document, once.
 * @throws {DocumentError} when it is not an OpenAPI 3.1 document
 */
export function readUsable(given: OpenApiDocument): UsableDocument {
  const usable = known.get(given) ?? usableFrom(parseDocument(given));
  known.set(given, usable);
  return usable;
}

function usableFrom(document: OpenApiDocument): UsableDocument {
  const { operations, unreadable } = surveyOperations(document);
  const validator = createValidator(document, { brief: true, lenient: true });
  const unusable = new Map(unreadable.map(({ id, reason }) => [id, `its description is invalid: ${reason}`]));
  const prepared = new Set<string>();
  function prepareOne(operation: Operation, part: Part): void {
    const key = `${part} ${operation.id}`;
    if (prepared.has(key) || unusable.has(operation.id)) return;
    prepared.add(key);
    const problem = problemOf(document, part === 'references' ? undefined : validator, schemasIn(operation, part));
    if (problem !== undefined) unusable.set(operation.id, `one of its schemas is invalid: ${problem}`);
  }
  return {
    document,
    operations: [...operations, ...unreadable.map(({ id, method, path, pointer }) => ({ ...UNDESCRIBED, id, method, path, pointer }))],
    validator,
    unusable,
    prepare(operation, ...parts) {
      for (const part of parts) prepareOne(operation, part);
      return !unusable.has(operation.id);
    },
    notes: validator.notes,
  };
}

function problemOf(document: OpenApiDocument, validator: Validator | undefined, pointers: readonly string[]): string | undefined {
  try {
    for (const pointer of pointers) {
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

function schemasIn({ parameters, body, responses }: Operation, part: Part): readonly string[] {
  const pointers =
    part === 'parameters'
      ? parameters.map(({ pointer }) => pointer)
      : part === 'body'
        ? [body?.pointer]
        : Object.values(responses).flatMap((response) => [
            jsonOf(response)?.pointer,
            ...Object.values(response.headers).map(({ pointer }) => pointer),
          ]);
  return pointers.filter((pointer) => pointer !== undefined);
}
