import { _, Ajv2020 } from 'ajv/dist/2020.js';

import { readErrors } from './ajv-errors.ts';
import { isMultiple } from './decimal.ts';
import { addDiscriminator } from './discriminator.ts';
import { DocumentError, parseDocument } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import { NO_ISSUES } from './issues.ts';
import type { Issue } from './issues.ts';
import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';
import { patternOf } from './pattern.ts';
import { joinPointer, valueAt } from './pointer.ts';
import { createSchemaCompiler } from './schema-compiler.ts';
import type { Compiled } from './schema-compiler.ts';
import { replaceTextKeywords } from './text-keywords.ts';

/** Validates a value against one schema. Returns the broken rules, or one shared empty list. Does not change the value. */
export type ValueCheck = (value: unknown) => readonly Issue[];

export interface Validator {
  /**
   * Compiles the schema at a JSON pointer into the document. Returns the same function for later calls.
   * @throws {DocumentError} when there is no valid schema at the pointer
   */
  compile(pointer: string): ValueCheck;
  /** Notes about the compiled schemas that are not errors, such as unknown keywords. */
  notes(): readonly string[];
}

export interface ValidatorOptions {
  readonly brief?: boolean;
  readonly lenient?: boolean;
  readonly lazy?: boolean;
  readonly trusted?: boolean;
  readonly maxIssues?: number;
}

/** Keywords that OpenAPI 3.1 adds to JSON Schema and that do not affect validity. */
const OPENAPI_KEYWORDS = ['example', 'externalDocs', 'xml'];
/** The names that Ajv accepts for keywords. */
const KEYWORD_NAME = /^[a-z_$][a-z0-9_$:-]*$/i;

/**
 * Creates a validator for the schemas of a document. It reports every broken rule, and does not coerce, default or remove values.
 * @param document a bundled OpenAPI 3.1 document
 * @param options.brief halves the time to compile, but validation is slower: for short processes
 * @param options.lenient ignores unknown keywords, with a note, instead of throwing
 * @param options.lazy compiles a schema, and throws its errors, at the first value: for processes that must start fast
 * @param options.trusted does not check that the schemas are valid, which takes longer than to compile them: for a document that is known to be valid
 * @param options.maxIssues how many issues a check returns at most: for a service that anybody may send anything
 * @throws {DocumentError} when it is not an OpenAPI 3.1 document
 */
export function createValidator(
  document: OpenApiDocument,
  { brief = false, lenient = false, lazy = false, trusted = false, maxIssues = Infinity }: ValidatorOptions = {},
): Validator {
  parseDocument(document);
  const notes = new Set<string>();
  function note(message: unknown): void {
    const keyword = /unknown keyword: "([^"]+)"/.exec(String(message))?.[1];
    if (keyword !== undefined && !keyword.startsWith('x-')) notes.add(`The schema keyword ${keyword} is not known and was ignored.`);
  }
  let prepared: Compiler | undefined;
  const checks = new Map<string, ValueCheck>();
  return {
    compile(pointer) {
      const known = checks.get(pointer);
      if (known !== undefined) return known;
      function compileNow(): ValueCheck {
        prepared ??= prepareCompiler(document, { brief, lenient, trusted, note });
        return compileCheck(prepared, { document, pointer, maxIssues });
      }
      const check = lazy ? compileLazily(compileNow) : compileNow();
      checks.set(pointer, check);
      return check;
    },
    notes: () => [...notes],
  };
}

interface Compiler {
  readonly compile: (pointer: string) => Compiled;
  /** The pointers of the objects of the document. */
  readonly pointers: ReadonlyMap<object, string>;
  readonly trusted: boolean;
}

interface CompilerOptions {
  readonly brief: boolean;
  readonly lenient: boolean;
  readonly trusted: boolean;
  /** Collects the warnings of the compiler. */
  note(message: unknown): void;
}

function prepareCompiler(document: OpenApiDocument, { brief, lenient, trusted, note }: CompilerOptions): Compiler {
  const survey = surveyDocument(document);
  const ajv = new Ajv2020({
    allErrors: true,
    // Errors then have the schema object, from which its pointer is found. The schemaPath of Ajv is wrong after references.
    verbose: true,
    ownProperties: true,
    strict: true,
    // OpenAPI documents often have `required` next to `allOf`, and enumerations without `type`.
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    strictSchema: lenient ? 'log' : survey.oddKeys.length === 0,
    allowUnionTypes: true,
    validateSchema: false,
    meta: !trusted,
    logger: { log: note, warn: note, error: note },
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
  replaceTextKeywords(ajv);
  addDiscriminator(ajv, (pointer) => compile(pointer));
  // Ajv treats the members of the document as keywords when it follows a pointer.
  ajv.addVocabulary(
    [...new Set([...OPENAPI_KEYWORDS, ...Object.keys(document), ...survey.extensionKeys])].filter((key) => KEYWORD_NAME.test(key)),
  );
  const compile = createSchemaCompiler(ajv, document);
  return { compile, pointers: survey.pointers, trusted };
}

function compileLazily(compileNow: () => ValueCheck): ValueCheck {
  let check: ValueCheck | undefined;
  return (value) => (check ??= compileNow())(value);
}

interface SchemaPlace {
  readonly document: OpenApiDocument;
  readonly pointer: string;
  readonly maxIssues: number;
}

/** Errors of Ajv for each issue. An issue about alternatives has the errors of each of them. */
const MAX_ERRORS_PER_ISSUE = 20;

function compileCheck({ compile, pointers, trusted }: Compiler, { document, pointer, maxIssues }: SchemaPlace): ValueCheck {
  const schema = valueAt(document, pointer);
  if (schema === true) return () => NO_ISSUES;
  if (schema === false) return () => [{ path: '', keyword: 'false schema', message: 'must not be given', params: {}, schemaPath: pointer }];
  if (!isObject(schema)) throw new DocumentError(`The document has no schema at ${pointer}.`);
  if (!trusted) assertValid(schema, pointer);
  const validate = compile(pointer);
  return (value) => {
    if (validate(value)) return NO_ISSUES;
    const errors = validate.errors?.slice(0, maxIssues * MAX_ERRORS_PER_ISSUE) ?? [];
    return readErrors(errors, pointers).slice(0, maxIssues);
  };
}

/** Validates schemas. It is the same for all documents, so it is compiled once. */
let metaschema: Ajv2020 | undefined;

function assertValid(schema: JsonObject, pointer: string): void {
  metaschema ??= new Ajv2020({ strict: false, logger: false });
  if (metaschema.validateSchema(schema) !== true)
    throw new DocumentError(`The schema at ${pointer} is not valid: ${metaschema.errorsText(metaschema.errors)}.`);
}

interface Survey {
  /** The pointer of every object of the document. */
  readonly pointers: ReadonlyMap<object, string>;
  readonly extensionKeys: ReadonlySet<string>;
  /** Extension keys that Ajv does not accept as keywords. */
  readonly oddKeys: readonly string[];
}

function surveyDocument(document: OpenApiDocument): Survey {
  const pointers = new Map<object, string>();
  const extensionKeys = new Set<string>();
  function addPointers(value: unknown, pointer: string): void {
    if (typeof value !== 'object' || value === null || pointers.has(value)) return;
    pointers.set(value, pointer);
    for (const [key, child] of Object.entries(value)) {
      if (key.startsWith('x-')) extensionKeys.add(key);
      addPointers(child, joinPointer(pointer, key));
    }
  }
  addPointers(document, '');
  const oddKeys = [...extensionKeys].filter((key) => !KEYWORD_NAME.test(key));
  for (const key of oddKeys) extensionKeys.delete(key);
  return { pointers, extensionKeys, oddKeys };
}
