import { expect, it } from 'vitest';

import { bundle, partOf } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';
import type { Tree } from './testing/tree.ts';

const file = 'paths/thing@{id}@info.yaml';
const body = soundTree[file]?.match(/ {2}requestBody:\n(?: {4}.*\n)+/)?.[0] ?? '';
const validationError = "    '422':\n      $ref: ../components/responses/Refused.yaml\n";
const writing = '  x-retry: never\n  x-effect: none\n';

async function statusesOf(tree: Tree, method = 'put', path = '/thing/{id}/info') {
  return Object.keys(Object(partOf(await bundle(tree), 'paths', path, method, 'responses')));
}

it('gives an operation with a body and a path parameter every response that follows from them', async () => {
  expect(await statusesOf(soundTree)).toEqual(['200', '400', '401', '403', '404', '413', '415', '422', '429', '500', '503']);
});

it('gives an operation without a body neither 413 nor 415', async () => {
  const tree = withText(file, validationError, '', withText(file, body, ''));
  expect(await statusesOf(tree)).toEqual(['200', '400', '401', '403', '404', '429', '500', '503']);
});

it.each([
  ['has no parameter', '/things', 'put'],
  ['ends with the parameter of the resource that a PUT creates', '/thing/{id}', 'put'],
])('gives no 404 to a path that %s', async (_what, path, method) => {
  const tree = withText('openapi.yaml', '/thing/{id}/info:', `${path}:`);
  expect(await statusesOf(tree, method, path)).not.toContain('404');
});

it('gives no 404 to a path whose parameters have a closed list of values', async () => {
  const closed =
    '  parameters:\n    - { name: id, in: path, required: true, description: A kind., schema: { type: string, enum: [a, b] } }\n';
  expect(await statusesOf(withText(file, '  parameters:\n    - $ref: ../components/parameters/ThingId.yaml\n', closed))).not.toContain(
    '404',
  );
});

it('gives a read no 403 that a suspended account may send, and removes the mark', async () => {
  const read = withText(file, writing, '  x-retry: safe\n  x-read-only: true\n');
  expect(await statusesOf(read)).toContain('403');
  const open = withText(file, writing, '  x-retry: safe\n  x-read-only: true\n  x-while-suspended: true\n');
  expect(await statusesOf(open)).not.toContain('403');
  expect(partOf(await bundle(open), 'paths', '/thing/{id}/info', 'put')).not.toHaveProperty('x-while-suspended');
});

it('gives no 401 to an operation that needs no credential', async () => {
  expect(await statusesOf(withText(file, '  x-retry: never\n', '  x-retry: never\n  security: []\n'))).not.toContain('401');
});

it('keeps a response that the operation writes itself', async () => {
  const own = "    '503':\n      description: Its own.\n";
  const document = await bundle(withText(file, validationError, `${validationError}${own}`));
  expect(partOf(document, 'paths', '/thing/{id}/info', 'put', 'responses', '503', 'description')).toBe('Its own.');
});

it('adds the header of all responses before the content', async () => {
  const response = partOf(await bundle(soundTree), 'paths', '/thing/{id}/info', 'put', 'responses', '200');
  expect(Object.keys(Object(response))).toEqual(['description', 'headers', 'content']);
  expect(partOf(response, 'headers')).toEqual({ 'Idempotency-Key-Lifetime': { $ref: '#/components/headers/IdempotencyKeyLifetime' } });
});
