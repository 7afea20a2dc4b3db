import { resolve } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import { isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';
import { isJsonType, mediaTypeName, MULTIPART } from './media-type.ts';
import { readExamples, readSchema } from './members.ts';
import type { Form, FormField, Operation, RequestBody, ScalarKind } from './operation.ts';
import { joinPointer } from './pointer.ts';
import { childNodes, keysOf, schemaNodes, typesOf } from './schema.ts';
import type { SchemaNode } from './schema.ts';

const FORM = 'application/x-www-form-urlencoded';
const SEPARATORS = new Map<unknown, ',' | ' ' | '|'>([
  ['form', ','],
  ['spaceDelimited', ' '],
  ['pipeDelimited', '|'],
]);

type Bodies = Pick<Operation, 'body' | 'otherBodies' | 'bodyTypes' | 'form' | 'unsupportedBody'>;

/** The body of an operation in all media types that this program builds, or the reason why it builds none. */
export function readBodyOf(document: OpenApiDocument, operation: string): Bodies {
  const { value } = resolve(document, operation);
  if (!isObject(member(value, 'requestBody'))) return { body: undefined, form: undefined, unsupportedBody: undefined };
  const written = resolve(document, joinPointer(operation, 'requestBody'));
  const types = keysOf(written.value, 'content');
  const required = written.value['required'] === true;
  const known = types.flatMap((type) => {
    const media = readMedia(document, joinPointer(written.pointer, 'content', type), required);
    return media === undefined ? [] : (bodyAs(type, media) ?? []);
  });
  const [body, ...otherBodies] = known.toSorted((one, other) => rankOfBody(one) - rankOfBody(other));
  const isUnsupported = body === undefined && required;
  return {
    body,
    otherBodies,
    bodyTypes: types.map(mediaTypeName),
    form: body !== undefined && isForm(body) ? body : undefined,
    unsupportedBody: isUnsupported ? `it needs a body of the type ${types.join(' or ')}, which this program does not build` : undefined,
  };
}

/** A body with a media type; undefined for a type that this program does not build. */
function bodyAs(type: string, media: Media): RequestBody | undefined {
  const name = mediaTypeName(type);
  if (name === FORM || name === MULTIPART) return { ...media, format: 'form', mediaType: name, isWhole: false };
  const isText = media.types.size === 0 || media.types.has('string');
  if (isJsonType(name) || name === '*/*')
    return {
      ...media,
      format: 'json',
      mediaType: name.includes('*') ? 'application/json' : type,
      isWhole: media.types.size > 0 && !media.types.has('object'),
    };
  if (!isText || !/^(?:text\/[^*]+|application\/octet-stream)$/.test(name) || name.endsWith('/xml')) return undefined;
  return { ...media, format: 'text', mediaType: type, isWhole: true };
}

function isForm(body: RequestBody): body is Form {
  return body.format === 'form' && 'encoding' in body;
}

/** A form is sent before JSON, because it has the stricter rules; a form with files and a text come last. */
function rankOfBody({ format, mediaType }: RequestBody): number {
  return mediaType === FORM ? 0 : format === 'json' ? 1 : format === 'form' ? 2 : 3;
}

/** An operation whose body is the one of a content type, if it describes several. */
export function withBody(operation: Operation, contentType: string): Operation {
  const type = mediaTypeName(contentType);
  const body = operation.otherBodies?.find(({ mediaType }) => mediaTypeName(mediaType) === type);
  return body === undefined ? operation : { ...operation, body, form: isForm(body) ? body : undefined };
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

/** The properties of an object, with how a form carries each. */
export function readFields(document: OpenApiDocument, pointer: string, encoding: JsonObject): ReadonlyMap<string, FormField> {
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
