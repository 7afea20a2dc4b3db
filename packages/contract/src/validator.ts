import { fullFormats } from 'ajv-formats/dist/formats.js';
import { _, Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject } from 'ajv/dist/2020.js';

import { readErrors } from './ajv-errors.ts';
import { isMultiple } from './decimal.ts';
import { DocumentError, parseDocument } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import { NO_ISSUES } from './issues.ts';
import type { Issue } from './issues.ts';
import { isObject } from './json.ts';
import { patternOf } from './pattern.ts';
import { joinPointer, pointerTokens, valueAt } from './pointer.ts';

/** Judges a value by one schema: its broken rules, or one shared empty list. It never changes the value. */
export type Check = (value: unknown) => readonly Issue[];

export interface Validator {
  /**
   * The check for the schema at a JSON pointer into the document, compiled once.
   * @throws {DocumentError} when there is no schema there, or it is not a valid one
   */
  compile(pointer: string): Check;
  /** What compiling so far has shown that is odd and not wrong, such as keywords that nobody knows. */
  notes(): readonly string[];
}

const DOCUMENT_ID = 'document.json';
/** Keys that OpenAPI 3.1 adds to JSON Schema and that say nothing about validity. */
const OPENAPI_KEYWORDS = ['discriminator', 'example', 'externalDocs', 'xml'];
/** What Ajv takes as the name of a keyword. */
const KEYWORD_NAME = /^[a-z_$][a-z0-9_$:-]*$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * A validator over the schemas of one document: no coercion, no defaults, nothing removed, every broken rule reported.
 * @param document an OpenAPI 3.1 document in one piece
 * @param options.brief for a process that checks a few values and ends: compiling takes half the time, checking a little more
 * @param options.lenient ignores keywords that are not known, with a note, instead of refusing their schema
 * @param options.lazy for a process that should be ready soon: a check is compiled, and its schema refused, when it gets its first value
 * @throws {DocumentError} when it is not one
 */
export function createValidator(
  document: OpenApiDocument,
  { brief = false, lenient = false, lazy = false }: { readonly brief?: boolean; readonly lenient?: boolean; readonly lazy?: boolean } = {},
): Validator {
  parseDocument(document);
  const notes = new Set<string>();
  function note(message: unknown): void {
    const keyword = /unknown keyword: "([^"]+)"/.exec(String(message))?.[1];
    if (keyword !== undefined && !keyword.startsWith('x-')) notes.add(`The schema keyword ${keyword} is not known and was ignored.`);
  }
  let prepared: Compiler | undefined;
  const checks = new Map<string, Check>();
  return {
    compile(pointer) {
      const known = checks.get(pointer);
      if (known !== undefined) return known;
      function compileNow(): Check {
        prepared ??= prepareCompiler(document, { brief, lenient, note });
        return compileCheck(prepared, document, pointer);
      }
      const check = lazy ? compileLazily(compileNow) : compileNow();
      checks.set(pointer, check);
      return check;
    },
    notes: () => [...notes],
  };
}

interface Compiler {
  readonly ajv: Ajv2020;
  /** The places of the objects of the document. */
  readonly pointers: ReadonlyMap<object, string>;
}

interface CompilerOptions {
  readonly brief: boolean;
  readonly lenient: boolean;
  /** Takes what the compiler finds odd. */
  note(message: unknown): void;
}

function prepareCompiler(document: OpenApiDocument, { brief, lenient, note }: CompilerOptions): Compiler {
  const survey = surveyDocument(document);
  const ajv = new Ajv2020({
    allErrors: true,
    // Errors then carry the schema object itself, the only sure way back to its place: Ajv's own schemaPath loses it at references.
    verbose: true,
    ownProperties: true,
    strict: true,
    // `required` next to `allOf`, and enumerations without `type`, are everyday OpenAPI.
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    strictSchema: lenient ? 'log' : survey.oddKeys.length === 0,
    allowUnionTypes: true,
    validateSchema: false,
    logger: { log: note, warn: note, error: note },
    formats: fullFormats,
    code: { regExp: Object.assign((source: string) => patternOf(source), { code: 'patternOf' }), optimize: !brief },
  });
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (factor: number, value: number) => isMultiple(value, factor),
    error: { message: 'must be a multiple', params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}` },
  });
  // Ajv's own also takes "urn:uuid:…", which is a URI and not a UUID.
  ajv.addFormat('uuid', UUID);
  // OpenAPI 3.1: a format that is not known is a remark.
  for (const format of survey.formats) if (!(format in ajv.formats)) ajv.addFormat(format, true);
  // Ajv looks at the document's own members as if they were keywords before it follows a pointer below them.
  ajv.addVocabulary(
    [...new Set([...OPENAPI_KEYWORDS, ...Object.keys(document), ...survey.extensionKeys])].filter((key) => KEYWORD_NAME.test(key)),
  );
  ajv.addSchema(document, DOCUMENT_ID);
  return { ajv, pointers: survey.pointers };
}

function compileLazily(compileNow: () => Check): Check {
  let check: Check | undefined;
  return (value) => (check ??= compileNow())(value);
}

/** What schemas themselves are judged by; the same for all documents, so it is compiled once. */
let metaschema: Ajv2020 | undefined;

function compileCheck({ ajv, pointers }: Compiler, document: OpenApiDocument, pointer: string): Check {
  const schema = valueAt(document, pointer);
  if (schema === true) return () => NO_ISSUES;
  if (schema === false) return () => [{ path: '', keyword: 'false schema', message: 'must not be given', params: {}, schemaPath: pointer }];
  if (!isObject(schema)) throw new DocumentError(`The document has no schema at ${pointer}.`);
  metaschema ??= new Ajv2020({ strict: false, logger: false });
  if (metaschema.validateSchema(schema) !== true)
    throw new DocumentError(`The schema at ${pointer} is not valid: ${metaschema.errorsText(metaschema.errors)}.`);
  const validate = compile(ajv, pointer);
  return (value) => (validate(value) ? NO_ISSUES : readErrors(validate.errors ?? [], pointers));
}

interface Compiled {
  (value: unknown): boolean;
  errors?: ErrorObject[] | null;
}

function compile(ajv: Ajv2020, pointer: string): Compiled {
  const fragment = pointerTokens(pointer)
    .map((token) => encodeURIComponent(joinPointer('', token).slice(1)))
    .join('/');
  try {
    return ajv.compile({ $ref: `${DOCUMENT_ID}#/${fragment}` });
  } catch (error) {
    throw new DocumentError(`The schema at ${pointer} cannot be compiled: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

interface Survey {
  /** Every object of the document and where it stands. */
  readonly pointers: ReadonlyMap<object, string>;
  readonly extensionKeys: ReadonlySet<string>;
  /** Extension keys that Ajv takes no keyword of. */
  readonly oddKeys: readonly string[];
  readonly formats: ReadonlySet<string>;
}

function surveyDocument(document: OpenApiDocument): Survey {
  const pointers = new Map<object, string>();
  const extensionKeys = new Set<string>();
  const formats = new Set<string>();
  function visit(value: unknown, pointer: string): void {
    if (typeof value !== 'object' || value === null || pointers.has(value)) return;
    pointers.set(value, pointer);
    for (const [key, child] of Object.entries(value)) {
      if (key.startsWith('x-')) extensionKeys.add(key);
      if (key === 'format' && typeof child === 'string') formats.add(child);
      visit(child, joinPointer(pointer, key));
    }
  }
  visit(document, '');
  const oddKeys = [...extensionKeys].filter((key) => !KEYWORD_NAME.test(key));
  for (const key of oddKeys) extensionKeys.delete(key);
  return { pointers, extensionKeys, oddKeys, formats };
}
