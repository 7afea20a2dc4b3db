import { expect, test } from 'vitest';

import type { OpenApiDocument } from '../document/document.ts';
import { readOperations } from '../document/operations.ts';
import { readEnvelope } from './envelope.ts';
import { OBSERVED, shapeSchema } from './infer.ts';

test('describes an object whose keys are data as a map, without its keys', () => {
  const value = { 'a.example': { price: 1 }, 'b.example': { price: 2.5 } };
  expect(shapeSchema(value)).toEqual({
    type: 'object',
    additionalProperties: { type: 'object', properties: { price: { type: 'integer', description: OBSERVED } } },
  });
});

test.each<[string, object]>([
  ['values of several shapes', { owner: { name: 'a' }, price: { net: 1 } }],
  ['a single entry', { owner: { name: 'a' } }],
  ['values that are not objects', { one: 'a', two: 'b' }],
  ['empty objects', { one: {}, two: {} }],
])('describes an object with %s by its properties', (_, value) => {
  expect(Object.keys(Object(shapeSchema(value)['properties']))).toEqual(Object.keys(value));
});

test('infers the envelope from all JSON responses: the outcome, the first identifier, and the data that failures do not have', () => {
  const uuid = { type: 'string', format: 'uuid' };
  function response(status: string, data: object) {
    const properties = { trace: { type: 'string' }, requestID: uuid, parentID: uuid, status: { const: status }, data };
    const schema = { type: 'object', required: Object.keys(properties), properties };
    return { description: 'A response.', content: { 'application/json': { schema } } };
  }
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: { title: 'Things', version: '1' },
    paths: {
      '/things': {
        get: {
          operationId: 'listThings',
          responses: { 200: response('success', { type: 'array' }), 404: response('error', { type: 'null' }) },
        },
      },
    },
  };
  expect(readEnvelope(document, readOperations(document))).toEqual({
    required: ['trace', 'requestID', 'parentID', 'status', 'data'],
    outcome: { name: 'status', success: ['success'], failure: ['error'] },
    identifier: 'requestID',
    payload: 'data',
  });
});
