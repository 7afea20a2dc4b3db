import { registerSchema, unregisterSchema, validate } from '@hyperjump/json-schema/draft-2020-12';
import bundle from '@reseller/openapi/openapi.json' with { type: 'json' };
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { jsonOf } from '../exchange/exchange.ts';
import { isObject } from './json.ts';
import { readOperations } from './operations.ts';
import { joinPointer, pointerTokens, valueAt } from './pointer.ts';
import { replaced } from './replace.ts';
import { createValidator } from './validator.ts';

const BASE = 'https://document.example/schemas';
const validator = createValidator(bundle);
const examples = readOperations(bundle).flatMap(({ id, responses }) =>
  Object.entries(responses).flatMap(([status, response]) => {
    const media = jsonOf(response);
    return media?.pointer === undefined
      ? []
      : Object.entries(media.examples).map(([name, { value }]) => ({
          name: `${id} ${status} ${name}`,
          pointer: media.pointer ?? '',
          value,
        }));
  }),
);

// The independent validator supports JSON Schema but not OpenAPI, so the components become definitions.
beforeAll(() => {
  const definitions: unknown = JSON.parse(JSON.stringify(bundle.components.schemas).replaceAll('#/components/schemas/', '#/$defs/'));
  registerSchema(
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: BASE,
      $defs: isObject(definitions) ? JSON.parse(JSON.stringify(definitions)) : {},
    },
    BASE,
  );
});

afterAll(() => unregisterSchema(BASE));

/** Whether the independent validator accepts a value, by the component that the schema of the response refers to. */
async function isValid(pointer: string, value: unknown): Promise<boolean> {
  const schema = valueAt(bundle, pointer);
  const reference = isObject(schema) ? String(schema['$ref']) : '';
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  const { valid } = await validate(`${BASE}#/$defs/${name}`, JSON.parse(JSON.stringify(value)));
  return valid;
}

test('agrees with an independent validator on every example of the document', async () => {
  expect(examples.length).toBeGreaterThan(50);
  for (const { name, pointer, value } of examples) {
    expect({ name, issues: validator.compile(pointer)(value), isValid: await isValid(pointer, value) }).toEqual({
      name,
      issues: [],
      isValid: true,
    });
  }
});

test('agrees with an independent validator on examples with one changed part', async () => {
  const changed = fc.constantFrom(...examples).chain(({ pointer, value }) =>
    fc.record({
      pointer: fc.constant(pointer),
      value: fc
        .tuple(fc.constantFrom(...placesOf(value, '')), fc.constantFrom(undefined, null, 7, -1, 1.5, 'x', '', true, [], {}))
        .map(([place, replacement]) => replaced(value, place, replacement)),
    }),
  );
  await fc.assert(
    fc.asyncProperty(changed, async ({ pointer, value }) => {
      // The independent validator ignores formats. The tests of the validator cover them.
      const issues = validator
        .compile(pointer)(value)
        .filter(({ keyword }) => keyword !== 'format');
      expect(await isValid(pointer, value)).toBe(issues.length === 0);
    }),
    { numRuns: 300 },
  );
});

function placesOf(value: unknown, pointer: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [pointer];
  const below = Object.entries(value).flatMap(([key, child]) => placesOf(child, joinPointer(pointer, key)));
  return pointerTokens(pointer).length === 0 ? below : [pointer, ...below];
}
