import bundle from '@reseller/openapi/openapi.json' with { type: 'json' };
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { hasSecretName } from '../exchange/mask-exchange.ts';
import { readOperations } from './operations.ts';
import { maskSecrets } from './secrets.ts';

const document = {
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  components: {
    schemas: {
      Secret: { type: 'string', 'x-secret': true },
      Plain: { type: 'object', properties: { a: { type: 'string' }, plain: { $ref: '#/components/schemas/Plain' } } },
      Tree: {
        allOf: [{ $ref: '#/components/schemas/Plain' }],
        properties: {
          direct: { type: ['string', 'null'], 'x-secret': true },
          referenced: { $ref: '#/components/schemas/Secret' },
          list: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
          pair: { type: 'array', prefixItems: [{ type: 'string' }, { $ref: '#/components/schemas/Secret' }] },
          map: { type: 'object', additionalProperties: { $ref: '#/components/schemas/Tree' } },
          choice: { anyOf: [{ type: 'null' }, { type: 'object', properties: { code: { type: 'string', 'x-secret': true } } }] },
          patterned: { type: 'object', patternProperties: { '^key-': { type: 'string', 'x-secret': true } } },
        },
      },
    },
  },
};

const mask = (value: unknown): unknown => maskSecrets(document, '/components/schemas/Tree', value);

describe('masking', () => {
  test('follows references, allOf, items, properties and maps', () => {
    const value = {
      a: 'open',
      direct: 's1',
      referenced: 's2',
      list: [{ direct: 's3' }, { a: 'open' }],
      pair: ['open', 's4'],
      map: { any: { map: { deeper: { referenced: 's5' } } } },
      choice: { code: 's6', open: 1 },
      patterned: { 'key-1': 's7', other: 'open' },
    };
    expect(mask(value)).toEqual({
      a: 'open',
      direct: '***',
      referenced: '***',
      list: [{ direct: '***' }, { a: 'open' }],
      pair: ['open', '***'],
      map: { any: { map: { deeper: { referenced: '***' } } } },
      choice: { code: '***', open: 1 },
      patterned: { 'key-1': '***', other: 'open' },
    });
    expect(value.direct).toBe('s1');
  });

  test('returns the same value when there is nothing to mask', () => {
    const value = { a: 'x', direct: null, list: [{ a: 'y' }] };
    expect(mask(value)).toBe(value);
    const plain = { a: 'x', plain: { direct: 'not described here' } };
    expect(maskSecrets(document, '/components/schemas/Plain', plain)).toBe(plain);
  });

  test('masks a secret whatever its type', () => {
    expect(mask({ direct: { inside: 's' } })).toEqual({ direct: '***' });
    expect(mask({ direct: 12 })).toEqual({ direct: '***' });
  });

  test('accepts any value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(() => mask({ list: value, map: value, choice: value, pair: value })).not.toThrow();
      }),
    );
  });

  test('finds the secrets of the reseller document', () => {
    const pointer =
      readOperations(bundle).find(({ id }) => id === 'createVm')?.responses['200']?.content['application/json']?.pointer ?? '';
    expect(maskSecrets(bundle, pointer, { data: { config: { username: 'root', password: 'p' } } })).toEqual({
      data: { config: { username: 'root', password: '***' } },
    });
  });
});

test.each([
  ['X-API-Key', true],
  ['x-access-token', true],
  ['Cookie', true],
  ['sessionid', true],
  ['X-Author', false],
  ['Keyboard', false],
])('the name %s has a word for a credential: %s', (name, expected) => {
  expect(hasSecretName(name)).toBe(expected);
});
