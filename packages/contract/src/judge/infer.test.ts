import { expect, test } from 'vitest';

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
