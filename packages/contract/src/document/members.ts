import { resolve } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import { emptyRecord, isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';
import type { Example, Header, Schema } from './operation.ts';
import { joinPointer, lastToken } from './pointer.ts';
import { provenanceOf } from './provenance.ts';
import type { Provenance } from './provenance.ts';
import { keysOf } from './schema.ts';

/** The `schema` of a parameter, header or media type, and its pointer. */
export function readSchema(document: OpenApiDocument, holder: string): { readonly pointer: string | undefined; readonly schema: Schema } {
  const pointer = joinPointer(holder, 'schema');
  const written = resolve(document, holder).value['schema'];
  if (typeof written === 'boolean') return { pointer, schema: written };
  if (!isObject(written)) return { pointer: undefined, schema: true };
  // OpenAPI 3.1 allows keywords next to $ref: then this object is the schema.
  const isPlainReference = member(written, '$ref') !== undefined && Object.keys(written).length === 1;
  return { pointer, schema: isPlainReference ? resolve(document, pointer).value : written };
}

/** The examples of a parameter or media type, by name. A single `example` gets the name `example`. */
export function readExamples(document: OpenApiDocument, holder: string): Readonly<Record<string, Example>> {
  const { value } = resolve(document, holder);
  const examples = emptyRecord<Example>();
  if (Object.hasOwn(value, 'example')) examples['example'] = { summary: '', value: value['example'] };
  for (const name of keysOf(value, 'examples')) {
    const example = resolve(document, joinPointer(holder, 'examples', name)).value;
    const summary = example['summary'];
    examples[name] = { summary: typeof summary === 'string' ? summary : '', value: example['value'] };
  }
  return examples;
}

export function readHeader(document: OpenApiDocument, at: string, inherited: Provenance): Header {
  const { pointer, value } = resolve(document, at);
  return {
    name: lastToken(at),
    required: value['required'] === true,
    explode: value['explode'] === true,
    isJson: value['schema'] === undefined && isObject(value['content']),
    ...readSchema(document, contentOf(pointer, value) ?? pointer),
    provenance: provenanceOf(value, inherited),
  };
}

/** The media type object of a header that is described by `content` instead of `schema`. */
function contentOf(pointer: string, { schema, content }: JsonObject): string | undefined {
  const [type] = schema === undefined && isObject(content) ? Object.keys(content) : [];
  return type === undefined ? undefined : joinPointer(pointer, 'content', type);
}
