import { isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';
import { valueAt } from './pointer.ts';

/**
 * A bundled OpenAPI 3.1 document: parsed JSON with local references only.
 * The type covers only what the specification requires. Other parts are checked when they are read.
 */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths?: Readonly<Record<string, unknown>>;
  readonly components?: Readonly<Record<string, unknown>>;
  readonly security?: readonly unknown[];
}

/** The document is unusable; the message says where and why. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

/** An object of the document, after following references. */
export interface Resolved {
  readonly pointer: string;
  readonly value: JsonObject;
}

/**
 * Checks that parsed JSON is an OpenAPI 3.1 document.
 * @param value parsed JSON, such as the content of a bundle
 * @throws {DocumentError} when it is not
 */
export function parseDocument(value: unknown): OpenApiDocument {
  if (isDocument(value)) return value;
  if (isObject(value) && 'swagger' in value) throw new DocumentError('This is a Swagger 2 document; an OpenAPI 3.1 document is needed.');
  const found = isObject(value) ? `its "openapi" is ${JSON.stringify(value['openapi']) ?? 'missing'}` : 'it is not a JSON object';
  throw new DocumentError(
    `This is not an OpenAPI 3.1 document: ${found}. Needed are "openapi" 3.1.x, "info" with title and version, and "paths", "components" and "security" of the right types where they are given.`,
  );
}

function isDocument(value: unknown): value is OpenApiDocument {
  if (!isObject(value)) return false;
  const { openapi, info, paths, components, security } = value;
  return (
    typeof openapi === 'string' &&
    /^3\.1\.[0-9]+/.test(openapi) &&
    isObject(info) &&
    typeof info['title'] === 'string' &&
    typeof info['version'] === 'string' &&
    (paths === undefined || isObject(paths)) &&
    (components === undefined || isObject(components)) &&
    (security === undefined || Array.isArray(security))
  );
}

/**
 * The JSON pointer that a local reference names.
 * @throws {DocumentError} when the reference leaves the document or is not a pointer
 */
export function referencePointer(reference: unknown, from: string): string {
  if (typeof reference !== 'string') throw new DocumentError(`The $ref at ${from} is not a string.`);
  if (reference !== '#' && !reference.startsWith('#/')) {
    throw new DocumentError(
      `The reference "${reference}" at ${from} leaves the document or names an anchor. Bundle the document into one file first.`,
    );
  }
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    throw new DocumentError(`The reference "${reference}" at ${from} is not a valid URI fragment.`);
  }
}

/**
 * The object at a pointer, with references followed until one is not a reference.
 * @throws {DocumentError} when there is no object, a reference has no target, or references are circular
 */
export function resolve(document: OpenApiDocument, pointer: string): Resolved {
  const seen = new Set<string>();
  for (let at = pointer; ;) {
    const value = valueAt(document, at);
    if (!isObject(value))
      throw new DocumentError(`The document has no object at ${at}${at === pointer ? '' : ` (referenced from ${pointer})`}.`);
    const reference = member(value, '$ref');
    if (reference === undefined) return { pointer: at, value };
    if (seen.has(at)) throw new DocumentError(`The references from ${pointer} are circular.`);
    seen.add(at);
    at = referencePointer(reference, at);
  }
}
