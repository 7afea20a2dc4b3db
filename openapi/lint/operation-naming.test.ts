import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const rule = 'reseller/operation-naming';
const file = 'paths/thing@{id}@info.yaml';

it('accepts an operation that is named for clients and docs', async () => {
  expect(await lint(soundTree)).toEqual([]);
});

it.each([
  [
    'operationId: changeThing',
    'operationId: thing_change',
    'operationId',
    'The operationId thing_change is not a camelCase verb and noun. Write it like createVm or listDomains.',
  ],
  [
    'summary: Change a thing',
    'summary: Change a thing.',
    'summary',
    'The summary "Change a thing." ends with a full stop. Remove it, because a summary is a title.',
  ],
  [
    'summary: Change a thing',
    'summary: Change',
    'summary',
    'The summary "Change" is too short. Write an imperative of two to five words, and the rest into the description.',
  ],
  ['tags: [Thing]', 'tags: []', '', 'The operation has 0 tags. Give it exactly one of the tags that the root document declares.'],
])('refuses "%s" changed to "%s"', async (part, replacement, key, message) => {
  expect(await lint(withText(file, part, replacement))).toEqual([{ rule, at: `${file}#/put${key && `/${key}`}`, message }]);
});

it('refuses two tags', async () => {
  const tree = withText(
    'openapi.yaml',
    '    description: Things.\n',
    '    description: Things.\n  - name: Other\n    description: Others.\n',
  );
  expect(await lint(withText(file, 'tags: [Thing]', 'tags: [Thing, Other]', tree))).toContainEqual({
    rule,
    at: `${file}#/put/tags`,
    message: 'The operation has 2 tags. Give it exactly one of the tags that the root document declares.',
  });
});
