import { expect, it } from 'vitest';

import { bundle, lint, partOf } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const path = 'paths/thing@{id}@info.yaml';
const scoped = withText(path, '  x-retry: never\n', '  x-retry: never\n  x-scope: billing\n');

it('adds the scope of an operation to its description', async () => {
  expect(partOf(await bundle(scoped), 'paths', '/thing/{id}/info', 'put', 'description')).toBe(
    'Changes one thing.\n\nNeeds the scope `billing`.',
  );
  expect(partOf(await bundle(soundTree), 'paths', '/thing/{id}/info', 'put', 'description')).toBe('Changes one thing.');
});

it('refuses a scope in the document of resellers', async () => {
  expect((await lint(scoped)).map(({ message }) => message)).toEqual([expect.stringMatching(/^x-scope has no meaning in this document/)]);
});
