import { resolve, type OpenApiDocument } from './document.ts';
import { isObject, member, type JsonObject } from './json.ts';
import { readExamples, readSchema } from './members.ts';
import type { Form, FormField, ScalarKind } from './operation.ts';
import { joinPointer } from './pointer.ts';
import { childNodes, keysOf, schemaNodes, typesOf, type SchemaNode } from './schema.ts';

const FORM = 'application/x-www-form-urlencoded';
const SEPARATORS = new Map<unknown, ',' | ' ' | '|'>([
  ['form', ','],
  ['spaceDelimited', ' '],
  ['pipeDelimited', '|'],
]);

/** The form that an operation takes, or undefined where it takes none. */
export function readFormOf(document: OpenApiDocument, operation: string): Form | undefined {
  const { value } = resolve(document, operation);
  if (!isObject(member(value, 'requestBody'))) return undefined;
  const body = resolve(document, joinPointer(operation, 'requestBody'));
  if (!keysOf(body.value, 'content').includes(FORM)) return undefined;
  const holder = joinPointer(body.pointer, 'content', FORM);
  const { pointer, schema } = readSchema(document, holder);
  if (pointer === undefined) return undefined;
  const written = resolve(document, holder).value['encoding'];
  const encoding = isObject(written) ? written : {};
  return {
    pointer,
    schema,
    required: body.value['required'] === true,
    encoding,
    fields: readFields(document, pointer, encoding),
    examples: readExamples(document, holder),
  };
}

function readFields(document: OpenApiDocument, pointer: string, encoding: JsonObject): ReadonlyMap<string, FormField> {
  const fields = new Map<string, FormField>();
  const nodes = schemaNodes(document, pointer);
  const required = new Set<unknown>(nodes.flatMap(({ schema }) => (Array.isArray(schema['required']) ? schema['required'] : [])));
  for (const node of nodes) {
    for (const name of keysOf(node.schema, 'properties')) {
      if (fields.has(name)) continue;
      const described = childNodes(document, nodes, name);
      fields.set(name, {
        name,
        pointer: joinPointer(node.pointer, 'properties', name),
        required: required.has(name),
        ...readCoercion(document, described, member(encoding, name)),
        secret: described.some(({ schema }) => schema['x-secret'] === true),
      });
    }
  }
  return fields;
}

type Coercion = Pick<FormField, 'kind' | 'items' | 'separator'>;

function readCoercion(document: OpenApiDocument, nodes: readonly SchemaNode[], encoding: unknown): Coercion {
  const types = typesOf(nodes);
  const { style, explode } = isObject(encoding) ? encoding : {};
  const scalar: Coercion = { kind: scalarKind(types), items: 'string', separator: undefined };
  if (types.has('string')) return scalar;
  if (style === 'deepObject') return { ...scalar, kind: 'unsupported' };
  if (types.has('object')) return { ...scalar, kind: 'json' };
  if (!types.has('array')) return scalar;
  const items = scalarKind(typesOf(childNodes(document, nodes, 0)));
  // OpenAPI 3.1: explode is true by default for the style `form`, and false for the others.
  const isRepeated = explode === true || (explode === undefined && (style === undefined || style === 'form'));
  return { kind: 'array', items, separator: isRepeated ? undefined : SEPARATORS.get(style ?? 'form') };
}

/** A text that may be a string stays one: turning "1" into 1 would lose which of the two was sent. */
function scalarKind(types: ReadonlySet<string>): ScalarKind {
  if (types.has('string')) return 'string';
  for (const kind of ['number', 'integer', 'boolean'] as const) if (types.has(kind)) return kind;
  return 'string';
}
