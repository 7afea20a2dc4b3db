import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree } from './testing/tree.ts';
import type { Tree } from './testing/tree.ts';

const PATH = 'paths/thing@{id}@price.yaml';
const SCHEMA = 'components/schemas/thing/Price.yaml';

/** The sound tree with an operation of the extension, which uses a schema of its own and one of the specification. */
const extended: Tree = {
  ...soundTree,
  'openapi.yaml': (soundTree['openapi.yaml'] ?? '').replace('\ncomponents:', `\n  /thing/{id}/price:\n    $ref: ${PATH}\ncomponents:`),
  [PATH]: (soundTree['paths/thing@{id}@info.yaml'] ?? '')
    .replace('operationId: changeThing', 'operationId: priceThing\n  x-origin: extension\n  x-provenance: not-shown')
    .replace('../components/schemas/thing/Thing.yaml', '../components/schemas/thing/Price.yaml'),
  [SCHEMA]: 'x-provenance: inferred\nallOf:\n  - $ref: Thing.yaml\ndescription: A thing with its price.\n',
};

const found = async (tree: Tree) => (await lint(tree)).filter(({ rule }) => rule === 'reseller/extension-marks');
const changed = (file: string, from: string, to: string): Tree => ({ ...extended, [file]: (extended[file] ?? '').replace(from, to) });

it('accepts a document with operations of the extension that say so', async () => {
  expect(await found(extended)).toEqual([]);
});

it('refuses another origin, and an operation of the extension that the specification shows', async () => {
  expect(await found(changed(PATH, 'x-origin: extension', 'x-origin: ours'))).toMatchObject([
    { message: 'ours is not an origin. Write x-origin: extension.' },
    // Without its mark, the operation is one of the specification.
  ]);
  expect(await found(changed(PATH, '  x-provenance: not-shown\n', ''))).toMatchObject([
    { message: 'The specification does not show the operations of the extension. Write x-provenance: inferred or not-shown.' },
  ]);
});

it('refuses a schema without provenance that only the extension uses, and accepts one that the specification uses', async () => {
  expect(await found(changed(SCHEMA, 'x-provenance: inferred\n', ''))).toMatchObject([
    { message: 'The specification does not show the schemas of the extension. Write x-provenance: inferred or not-shown.' },
  ]);
});

it('refuses an operation of the specification after one of the extension', async () => {
  const root = extended['openapi.yaml'] ?? '';
  const price = `  /thing/{id}/price:\n    $ref: ${PATH}\n`;
  const turned = { ...extended, 'openapi.yaml': root.replace(price, '').replace('paths:\n', `paths:\n${price}`) };
  expect(await found(turned)).toContainEqual(
    expect.objectContaining({
      message: 'An operation of the specification comes after one of the extension. Put its path before those of the extension.',
    }),
  );
});
