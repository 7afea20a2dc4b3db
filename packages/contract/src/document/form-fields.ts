import { resolve } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import { isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';
import { isJsonType, mediaTypeName, MULTIPART } from './media-type.ts';
import { readExamples, readSchema } from './members.ts';
import type { Form, FormField, RequestBody, ScalarKind } from './operation.ts';
import { joinPointer } from './pointer.ts';
import { childNodes, keysOf, schemaNodes, typesOf } from './schema.ts';
import type { SchemaNode } from './schema.ts';

const FORM = 'application/x-www-form-urlencoded';
const SEPARATORS = new Map<unknown, ',' | ' ' | '|'>([
  ['form', ','],
  ['spaceDelimited', ' '],
  ['pipeDelimited', '|'],
]);

/** The body of an operation, or the reason why its type is not supported. */
export function readBodyOf(
  document: OpenApiDocument,
  operation: string,
): { readonly body: RequestBody | undefined; readonly form: Form | undefined; readonly unsupportedBody: string | undefined } {
  const { value } = resolve(document, operation);
  const none = { body: undefined, form: undefined, unsupportedBody: undefined };
  if (!isObject(member(value, 'requestBody'))) return none;
  const written = resolve(document, joinPointer(operation, 'requestBody'));
  const types = keysOf(written.value, 'content');
  const required = written.value['required'] === true;
  function formAs(mediaType: string): Form | undefined {
    const type = types.find((one) => mediaTypeName(one) === mediaType);
    const media = type === undefined ? undefined : readMedia(document, joinPointer(written.pointer, 'content', type), required);
    return media === undefined ? undefined : { ...media, format: 'form', mediaType, isWhole: false };
  }
  const form = formAs(FORM);
  if (form !== undefined) return { body: form, form, unsupportedBody: undefined };
  const jsonType = types.find((type) => isJsonType(mediaTypeName(type)) || mediaTypeName(type) === '*/*');
  const json = jsonType === undefined ? undefined : readMedia(document, joinPointer(written.pointer, 'content', jsonType), required);
  if (json !== undefined && jsonType !== undefined) {
    const isWhole = json.types.size > 0 && !json.types.has('object');
    return { ...none, body: { ...json, format: 'json', mediaType: jsonType.includes('*') ? 'application/json' : jsonType, isWhole } };
  }
  const multipart = formAs(MULTIPART);
  if (multipart !== undefined) return { body: multipart, form: multipart, unsupportedBody: undefined };
  return {
    ...none,
    unsupportedBody: required ? `it needs a body of the type ${types.join(' or ')}, which this program does not build` : undefined,
  };
}

type Media = Omit<Form, 'format' | 'mediaType' | 'isWhole'> & { readonly types: ReadonlySet<string> };

function readMedia(document: OpenApiDocument, holder: string, required: boolean): Media | undefined {
  const { pointer, schema } = readSchema(document, holder);
  if (pointer === undefined) return undefined;
  const written = resolve(document, holder).value['encoding'];
  const encoding = isObject(written) ? written : {};
  const fields = readFields(document, pointer, encoding);
  const types = typesOf(schemaNodes(document, pointer));
  return { pointer, schema, required, encoding, fields, types, examples: readExamples(document, holder) };
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
        contentType: partTypeOf(described, member(encoding, name)),
        isFile: described.some(({ schema }) => schema['format'] === 'binary' || schema['contentMediaType'] !== undefined),
        secret: described.some(({ schema }) => schema['x-secret'] === true),
      });
    }
  }
  return fields;
}

/**
 * The first content type that the document gives for a part: in `encoding`, else as `contentMediaType`. The default of an object is JSON, and of a
 * text no type.
 */
function partTypeOf(described: readonly SchemaNode[], encoding: unknown): string | undefined {
  const listed = isObject(encoding) ? encoding['contentType'] : undefined;
  const written = typeof listed === 'string' ? listed : described.map(({ schema }) => schema['contentMediaType']).find(Boolean);
  const isJson = typesOf(described).has('object');
  const type = mediaTypeName(String(written ?? (isJson ? 'application/json' : '')).split(',', 1)[0] ?? '');
  // Any type of a range is right.
  return type === '' ? undefined : (PLAIN_OF_RANGE[type] ?? type);
}

const PLAIN_OF_RANGE: Readonly<Record<string, string>> = {
  '*/*': 'application/octet-stream',
  'application/*': 'application/octet-stream',
  'image/*': 'image/png',
  'text/*': 'text/plain',
  'audio/*': 'audio/mpeg',
  'video/*': 'video/mp4',
};

type Coercion = Pick<FormField, 'kind' | 'items' | 'separator'>;

export function readCoercion(document: OpenApiDocument, nodes: readonly SchemaNode[], encoding: unknown): Coercion {
  const types = typesOf(nodes);
  const { style, explode } = isObject(encoding) ? encoding : {};
  const scalar: Coercion = { kind: scalarKind(types), items: 'string', separator: undefined };
  if (types.has('string')) return scalar;
  if (style === 'deepObject') return { ...scalar, kind: 'unsupported' };
  if (types.has('object')) return { ...scalar, kind: 'json' };
  if (!types.has('array')) return scalar;
  const items = scalarKind(typesOf(childNodes(document, nodes, 0)));
  // OpenAPI 3.1: the default of explode is true for the style `form`, and false for other styles.
  const isRepeated = explode === true || (explode === undefined && (style === undefined || style === 'form'));
  return { kind: 'array', items, separator: isRepeated ? undefined : SEPARATORS.get(style ?? 'form') };
}

/** A field that may be a string stays a string, because converting "1" to 1 would lose information. */
function scalarKind(types: ReadonlySet<string>): ScalarKind {
  if (types.has('string')) return 'string';
  for (const kind of ['number', 'integer', 'boolean'] as const) if (types.has(kind)) return kind;
  return 'string';
}
