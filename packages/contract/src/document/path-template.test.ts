import fc from 'fast-check';
import { expect, test } from 'vitest';

import { fillPath, hasPathParameters, pathParameters, pathPattern } from './path-template.ts';

test('names the parameters of a template in their order', () => {
  expect(pathParameters('/orgs/{org}/repos/{repo}.{format}')).toEqual(['org', 'repo', 'format']);
  expect(hasPathParameters('/orgs')).toBe(false);
});

test('encodes the values that it puts into a path', () => {
  expect(fillPath('/a/{x}/b/{y}', { x: '../c d', y: 'é' })).toBe('/a/..%2Fc%20d/b/%C3%A9');
  expect(fillPath('/a/{x}', {})).toBe('/a/');
});

test('treats characters of regular expressions in a template as literals', () => {
  expect(pathPattern('/a.b/{x}').test('/axb/1')).toBe(false);
  expect(pathPattern('/a(b)+/{x}$').exec('/a(b)+/1$')?.[1]).toBe('1');
});

test('reads back every value that it put into a path', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: 'grapheme', minLength: 1 }), (x, y) => {
      const [, ...raw] = pathPattern('/a/{x}/b/{y}').exec(fillPath('/a/{x}/b/{y}', { x, y })) ?? [];
      expect(raw.map(decodeURIComponent)).toEqual([x, y]);
    }),
  );
});
