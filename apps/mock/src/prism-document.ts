import { valueAt } from '@reseller/contract';

type Json = Readonly<Record<string, unknown>>;

const formType = 'application/x-www-form-urlencoded';

/**
 * The document as Prism 5.16 has to be given it, so that Prism applies every rule of a form.
 *
 * Without a dialect Prism validates with JSON Schema draft 7, which does not know `dependentRequired`. And of a form whose schema has
 * `properties` it reads only the fields that are named there, so that `additionalProperties: false` never sees another one; the same
 * schemas written as `patternProperties` make it read all fields. Measured: before, an unknown field and a missing dependent field
 * were both answered with 200.
 */
export function documentForPrism(document: Json): Json {
  const paths = mapValues(document['paths'], (item) =>
    mapValues(item, (operation) => {
      if (!isJson(operation) || operation['requestBody'] === undefined) return operation;
      const requestBody = resolve(document, operation['requestBody']);
      const content = mapValues(requestBody['content'], (mediaType, name) =>
        name === formType && isJson(mediaType) ? { ...mediaType, schema: withPatterns(resolve(document, mediaType['schema'])) } : mediaType,
      );
      return { ...operation, requestBody: { ...requestBody, content } };
    }),
  );
  return { ...document, jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema', paths };
}

function withPatterns({ properties, ...schema }: Json): Json {
  if (!isJson(properties)) return schema;
  const patterns = Object.entries(properties).map(([name, property]) => [`^${escapePattern(name)}$`, property]);
  return { ...schema, patternProperties: Object.fromEntries(patterns) };
}

function escapePattern(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}

/** Follows `$ref`s within the document. */
function resolve(document: Json, value: unknown): Json {
  if (!isJson(value)) return {};
  const reference = value['$ref'];
  if (typeof reference !== 'string') return value;
  const target = valueAt(document, decodeURIComponent(reference.slice(1)));
  // Prism lets any form pass whose schema it cannot read, so this must not go unnoticed.
  if (!isJson(target)) {
    throw new Error(`The document refers to ${reference}, which it does not hold. Build it again: npx pnpm@12 build`);
  }
  return resolve(document, target);
}

function mapValues(value: unknown, change: (item: unknown, name: string) => unknown): Json {
  return isJson(value) ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, change(item, name)])) : {};
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
