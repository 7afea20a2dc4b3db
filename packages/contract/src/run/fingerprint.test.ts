import { expect, test } from 'vitest';

import { exchangeWith } from '../../test/exchange-with.ts';
import { parseDocument } from '../document/document.ts';
import { readOperations } from '../document/operations.ts';
import { fingerprintOf, isSameResource, sharesUnique } from './fingerprint.ts';

const document = parseDocument({
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  paths: {
    '/things': {
      get: {
        operationId: 'getThing',
        responses: { 200: { description: 'A thing.', content: { 'application/json': { schema: { type: 'object' } } } } },
      },
    },
  },
});
const [operation] = readOperations(document);

function fingerprint(body: unknown, status = 200) {
  if (operation === undefined) throw new Error('The document has no operation.');
  return fingerprintOf(document, exchangeWith(operation, body, { status }));
}

function known(body: unknown) {
  return fingerprint(body) ?? expect.fail('The response shows a resource.');
}

test.each([
  ['a UUID', { id: '0190AB00-0000-7000-8000-0000000000ff' }],
  ['a time', { begins: '2026-11-30T08:00:00Z' }],
  ['a name of a run', { name: 'contract-k3v9-1' }],
  ['seconds since 1970 in a field of that name', { created_at: 1_000_000_000 }],
  ['seconds since 1970 in a list', { list: [{ modified: 1_796_000_000 }] }],
])('%s belongs to one resource', (_, body) => {
  expect(known(body).unique).toHaveLength(1);
});

test.each([
  ['a small number', { cores: 2 }],
  ['a number below every time of this century', { created_at: 999_999_999 }],
  ['a large number in another field', { bytes: 4_000_000_000 }],
  ['a large number below the name of a time', { date: { bytes: 4_000_000_000 } }],
  ['a word', { name: 'first' }],
  ['a date', { day: '2026-11-30' }],
])('%s may belong to several resources', (_, body) => {
  expect(known(body).unique).toEqual([]);
});

test('a resource is the same with the same unique value and no other difference', () => {
  const id = '01900000-0000-7000-8000-000000000001';
  const made = known({ id, cores: 2 });
  expect(isSameResource(made, known({ id, cores: 2, state: 'running' }))).toBe(true);
  expect([isSameResource(made, known({ id, cores: 4 })), sharesUnique(made, known({ id, cores: 4 }))]).toEqual([false, true]);
  const other = known({ id: id.replace(/1$/, '2'), cores: 2 });
  expect([isSameResource(made, other), sharesUnique(made, other)]).toEqual([false, false]);
  // Nothing says whose it is.
  expect(isSameResource(known({ cores: 2 }), known({ cores: 2 }))).toBe(false);
});

test('a response without a described resource has none', () => {
  expect(fingerprint({ id: 'a' }, 404)).toBeUndefined();
});
