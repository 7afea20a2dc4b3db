import { expect, test } from 'vitest';

import { parseDocument } from './document.ts';
import { readOperations } from './operations.ts';
import { repeatsOf } from './repeats.ts';

/** The values that the only operation repeats, by the schema of its response. */
function repeatsBy(schema: object, method = 'put') {
  const operation = {
    operationId: 'orderThing',
    parameters: [{ name: 'shop', in: 'path', required: true, schema: { type: 'string' } }],
    requestBody: {
      content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties: { size: { type: 'integer' } } } } },
    },
    responses: { 200: { description: 'Done.', content: { 'application/json': { schema } } } },
  };
  const document = parseDocument({
    openapi: '3.1.0',
    info: { title: 'Things', version: '1' },
    paths: { '/{shop}/thing': { [method]: operation } },
    components: {
      schemas: {
        Thing: {
          type: 'object',
          properties: {
            width: { type: 'integer', 'x-repeats': 'size' },
            part: { $ref: '#/components/schemas/Thing' },
            parts: { type: 'array', items: { type: 'object', properties: { width: { type: 'integer', 'x-repeats': 'size' } } } },
          },
        },
      },
    },
  });
  return readOperations(document).flatMap((each) => repeatsOf(document, each));
}

const envelopeOf = (data: object) => ({ allOf: [{ type: 'object' }, { type: 'object', properties: { data } }] });
const THING = { $ref: '#/components/schemas/Thing' };

test('finds each value that a response repeats, but not within lists', () => {
  const shop = { type: 'string', 'x-repeats': 'shop' };
  expect(repeatsBy(envelopeOf({ type: 'object', properties: { shop, thing: THING } }))).toEqual([
    { name: 'shop', path: ['data', 'shop'] },
    { name: 'size', path: ['data', 'thing', 'width'] },
  ]);
});

test('a read repeats nothing', () => expect(repeatsBy(envelopeOf(THING), 'get')).toEqual([]));

test('refuses the name of a value that the request does not have', () => {
  expect(() => repeatsBy(envelopeOf({ properties: { width: { 'x-repeats': 'sizes' } } }))).toThrow(
    'The response to orderThing says that data.width repeats sizes (x-repeats), which is neither a field nor a path parameter of the request. Name one of size, shop.',
  );
});
