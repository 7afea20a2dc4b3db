import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { _ } from 'ajv/dist/2020.js';
import type { Format } from 'ajv/dist/types/index.js';

import type { JsonObject } from './json.ts';
import { patternOf } from './pattern.ts';

type Test = (value: unknown) => boolean;

function isEmail(text: string): boolean {
  const { email } = fullFormats;
  const plain = text.replace(QUOTED, 'quoted@');
  return email instanceof RegExp && email.test(plain);
}

/** The format of Ajv also accepts "urn:uuid:…", which is a URI, not a UUID. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** A local part in quotes (RFC 5321, 4.1.2), which the format of Ajv does not know. */
const QUOTED = /^"(?:[ !#-[\]-~]|\\[ -~])*"@/;
const FORMATS: Readonly<Record<string, Format>> = { ...fullFormats, uuid: UUID, email: isEmail };

/**
 * Replaces `pattern` and `format`. Ajv would evaluate them also for a text that `maxLength` refuses, and a regular expression can take
 * long for such a text.
 */
export function replaceTextKeywords(ajv: Ajv2020): void {
  for (const [keyword, testOf] of [
    ['pattern', patternTest],
    ['format', formatTest],
  ] as const) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type: keyword === 'pattern' ? 'string' : ['string', 'number'],
      schemaType: 'string',
      compile: (named: string, schema: JsonObject) => unlessTooLong(testOf(named), schema['maxLength']),
      error: { message: 'must match', params: ({ schemaCode }) => _`{${keyword}: ${schemaCode}}` },
    });
  }
}

function unlessTooLong(test: Test, maxLength: unknown): Test {
  if (typeof maxLength !== 'number') return test;
  // The length of a text in JSON Schema is its number of code points.
  return (value) => (typeof value === 'string' && value.length > maxLength && [...value].length > maxLength) || test(value);
}

function patternTest(source: string): Test {
  const pattern = patternOf(source);
  return (value) => pattern.test(String(value));
}

/** OpenAPI 3.1: a format that is not known is an annotation. A format applies to texts or to numbers. */
function formatTest(name: string): Test {
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (typeof format !== 'object' || format instanceof RegExp) return textTest(format);
  if (format.async === true) throw new TypeError(`The format ${name} needs more than the value.`);
  const { type = 'string', validate } = format;
  if (typeof validate !== 'function') return textTest(validate);
  return (value) => typeof value !== type || Reflect.apply(validate, undefined, [value]) === true;
}

function textTest(format: Format | undefined): Test {
  if (format instanceof RegExp) return (value) => typeof value !== 'string' || format.test(value);
  if (typeof format === 'function') return (value) => typeof value !== 'string' || format(value);
  return () => true;
}
