import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import { compileSchema, resolveSchema, SchemaEnv } from 'ajv/dist/compile/index.js';
import { inlineRef, resolveUrl } from 'ajv/dist/compile/resolve.js';
import type { KeywordCxt } from 'ajv/dist/compile/validate/index.js';

import { errorText } from '../is-error.ts';
import { DocumentError } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import { joinPointer, pointerTokens } from './pointer.ts';

export interface Compiled {
  (value: unknown): boolean;
  errors?: ErrorObject[] | null;
}

const DOCUMENT_ID = 'document.json';

/**
 * Compiles the schemas of a document one at a time. Ajv compiles the target of a reference while it compiles the schema that refers to it. Its
 * stack is then as deep as the longest chain of references, and after an overflow some validators call others that do not exist.
 * @returns compiles the schema at a pointer, with all schemas that it refers to. It throws a DocumentError when one of them cannot be compiled
 */
export function createSchemaCompiler(ajv: Ajv2020, document: OpenApiDocument): (pointer: string) => Compiled {
  const root = rootSchema(ajv, document);
  const targets = new Map<SchemaEnv, Set<SchemaEnv>>();
  const failures = new Map<SchemaEnv, unknown>();
  /** Schemas that are compiled, with all schemas that they refer to. */
  const complete = new Set<SchemaEnv>();
  beforeReference(ajv, ({ schema: reference, it }) => {
    if (reference === '#' && it.baseId === DOCUMENT_ID) throw new Error('The reference "#" is the whole document, which is not a schema.');
    const target = targetOf(ajv, it.schemaEnv.root, resolveUrl(ajv.opts.uriResolver, it.baseId, String(reference)));
    if (target !== undefined) targets.set(it.schemaEnv, (targets.get(it.schemaEnv) ?? new Set()).add(target));
  });
  function compileOne(schema: SchemaEnv): void {
    if (failures.has(schema)) throw failures.get(schema);
    if (schema.validate !== undefined) return;
    try {
      compileSchema.call(ajv, schema);
    } catch (error) {
      failures.set(schema, error);
      throw error;
    }
  }
  function compile(pointer: string): Compiled {
    const reference = `${DOCUMENT_ID}#/${pointerTokens(pointer)
      .map((token) => encodeURIComponent(joinPointer('', token).slice(1)))
      .join('/')}`;
    const schema = resolveSchema.call(ajv, root, reference);
    if (schema === undefined) throw new Error(`can't resolve reference ${reference}`);
    const all = new Set([schema]);
    for (const one of all) {
      compileOne(one);
      for (const target of targets.get(one) ?? []) if (!complete.has(target)) all.add(target);
    }
    for (const one of all) complete.add(one);
    const { validate } = schema;
    if (validate === undefined) throw new Error(`${reference} has no validator`);
    return validate;
  }
  const compiled = new Map<string, Compiled>();
  return (pointer) => {
    try {
      const check = compiled.get(pointer) ?? compile(pointer);
      compiled.set(pointer, check);
      return check;
    } catch (error) {
      throw new DocumentError(`The schema at ${pointer} cannot be compiled: ${errorText(error)}`, { cause: error });
    }
  };
}

/** Keywords that name a schema otherwise than by its pointer. */
const NAMING_KEYWORDS = ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef'];

/** Adds the document. When its names of schemas contradict each other, only schemas that use such names cannot be compiled. */
function rootSchema(ajv: Ajv2020, document: OpenApiDocument): SchemaEnv {
  const plain = new SchemaEnv({ schema: document, schemaId: '$id', baseId: DOCUMENT_ID });
  try {
    ajv.addSchema(document, DOCUMENT_ID);
    return ajv.schemas[DOCUMENT_ID] ?? plain;
  } catch (error) {
    ajv.schemas[DOCUMENT_ID] = plain;
    for (const keyword of NAMING_KEYWORDS) {
      ajv.removeKeyword(keyword);
      ajv.addKeyword({
        keyword,
        compile: () => {
          throw error;
        },
      });
    }
    return plain;
  }
}

/** Runs a function before Ajv compiles a `$ref`. */
function beforeReference(ajv: Ajv2020, prepare: (context: KeywordCxt) => void): void {
  const definition = ajv.getKeyword('$ref');
  if (typeof definition !== 'object' || !('code' in definition)) throw new Error('This version of Ajv has no keyword $ref.');
  const { code } = definition;
  // Replacing the keyword would change the order in which keywords are checked, and so the order of errors.
  Object.assign(definition, {
    code(context: KeywordCxt) {
      prepare(context);
      code.call(definition, context);
    },
  });
}

/**
 * The schema that a reference names. Ajv finds it in `refs`, and does not compile it at once.
 * @returns undefined for a schema that Ajv inlines, and for one that does not exist, which Ajv reports
 */
function targetOf(ajv: Ajv2020, root: SchemaEnv, reference: string): SchemaEnv | undefined {
  const known = root.refs[reference];
  if (known !== undefined) return known instanceof SchemaEnv ? known : undefined;
  const target = resolveSchema.call(ajv, root, reference);
  if (target === undefined || inlineRef(target.schema, ajv.opts.inlineRefs)) return undefined;
  root.refs[reference] = target;
  return target;
}
