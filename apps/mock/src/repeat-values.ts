import { readForm, repeatsOf } from '@reseller/contract';
import type { Matcher, OpenApiDocument } from '@reseller/contract';

/** Puts the values of a request into the example with which Prism responds to it. */
export type RepeatValues = (request: { readonly method: string; readonly path: string; readonly body: Buffer }, example: string) => string;

/** The client takes a response that does not repeat the values of its request (`x-repeats`) for that of another request. */
export function createRepeater(document: OpenApiDocument, match: Matcher): RepeatValues {
  return ({ method, path, body }, example) => {
    const { operation, parameters } = match(method, path.split('?', 1)[0] ?? '') ?? {};
    const repeats = operation ? repeatsOf(document, operation) : [];
    if (!operation || repeats.length === 0) return example;
    const form = operation.form ? readForm(operation, body).values : {};
    const values: Readonly<Record<string, unknown>> = { ...parameters, ...form };
    const response: unknown = JSON.parse(example);
    for (const { name, path: properties } of repeats) if (values[name] !== undefined) repeatAt(response, properties, values[name]);
    return JSON.stringify(response);
  };
}

function repeatAt(holder: unknown, [property = '', ...below]: readonly string[], value: unknown): void {
  if (typeof holder !== 'object' || holder === null) return;
  const shown: unknown = Reflect.get(holder, property);
  if (below.length > 0) repeatAt(shown, below, value);
  else Reflect.set(holder, property, typeof shown === 'number' ? Number(value) : String(value));
}
