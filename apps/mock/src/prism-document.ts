import { valueAt } from '@reseller/contract';

type Json = Readonly<Record<string, unknown>>;

const formType = 'application/x-www-form-urlencoded';

/**
 * Rewrites the document for Prism 5.16, so that Prism applies every rule of a form.
 *
 * Without a dialect Prism validates with JSON Schema draft 7, which does not have `dependentRequired`. If the schema of a form has
 * `properties`, Prism reads only these fields, so `additionalProperties: false` has no effect. With `patternProperties` instead,
 * Prism reads all fields. Without the rewrite, an unknown field and a missing dependent field both get a 200.
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
  // Prism accepts any form whose schema it cannot read, so a broken reference must be an error.
  if (!isJson(target)) {
    throw new Error(`The document refers to ${reference}, which does not exist. Generate it again: npx -y pnpm@12 generate`);
  }
  return resolve(document, target);
}

function mapValues(value: unknown, change: (item: unknown, name: string) => unknown): Json {
  return isJson(value) ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, change(item, name)])) : {};
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
