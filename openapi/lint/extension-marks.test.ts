import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';
import type { Tree } from './testing/tree.ts';

const rule = 'reseller/extension-marks';
const file = 'extension/paths/thing@{id}@info.yaml';
const schema = 'extension/components/schemas/thing/Thing.yaml';
const extension = { root: 'extension.yaml' };

/** A sound extension, which refers to its own schema and to components of openapi.yaml. */
const treeOfExtension: Tree = {
  ...soundTree,
  'extension.yaml': (soundTree['openapi.yaml'] ?? '').replace('$ref: paths/', '$ref: extension/paths/'),
  [file]: (soundTree['paths/thing@{id}@info.yaml'] ?? '')
    .replaceAll('$ref: ../components/', '$ref: ../../components/')
    .replace('../../components/schemas/thing/Thing.yaml', '../components/schemas/thing/Thing.yaml')
    .replace('  x-retry: never', '  x-retry: never\n  x-origin: extension\n  x-provenance: not-shown'),
  [schema]: `x-provenance: not-shown\n${(soundTree['components/schemas/thing/Thing.yaml'] ?? '').replaceAll('$ref: ThingState', '$ref: ../../../../components/schemas/thing/ThingState')}`,
};

const lintExtension = (tree: Tree) => lint(tree, { extension }, 'extension');

it('accepts an extension whose operations and schemas are marked', async () => {
  expect(await lintExtension(treeOfExtension)).toEqual([]);
});

it.each([
  ['x-origin', '\n  x-origin: extension', 'The operation has no x-origin. Write x-origin: extension.'],
  [
    'x-provenance',
    '\n  x-provenance: not-shown',
    'The specification does not show the operations of the extension. Write x-provenance: inferred or not-shown.',
  ],
])('refuses an operation of the extension without %s', async (_key, text, message) => {
  expect(await lintExtension(withText(file, text, '', treeOfExtension))).toContainEqual({ rule, at: `${file}#/put`, message });
});

it('refuses a schema of the extension that claims to be shown', async () => {
  const tree = withText(schema, 'x-provenance: not-shown', 'x-provenance: shown', treeOfExtension);
  expect(await lintExtension(tree)).toContainEqual({
    rule,
    at: `${schema}#/`,
    message: 'The specification does not show the schemas of the extension. Write x-provenance: inferred or not-shown.',
  });
});

it('refuses x-origin in another document', async () => {
  const path = 'paths/thing@{id}@info.yaml';
  expect(await lint(withText(path, '  x-retry: never', '  x-retry: never\n  x-origin: extension'))).toEqual([
    {
      rule,
      at: `${path}#/put/x-origin`,
      message: 'x-origin marks operations of the extension, and this document is not extension.yaml. Remove it.',
    },
  ]);
});
