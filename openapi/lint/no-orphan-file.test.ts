import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree } from './testing/tree.ts';

const rule = 'reseller/no-orphan-file';

it('accepts files that are reached, documentation and tooling', async () => {
  const beside = {
    'package.json': '{}',
    'paths/README.md': 'How a file is named.',
    'lint/rule.ts': '',
    'not-shown/table.ts': '',
    'generated/NOT-SHOWN.md': '',
    'dist/openapi.yaml': '',
    '.hidden': '',
  };
  expect(await lint({ ...soundTree, ...beside })).toEqual([]);
});

it.each([
  'paths/other.yaml',
  'components/schemas/thing/Forgotten.yaml',
  'components/notes.md',
  'components/schemas/Thing.txt',
  'draft.yaml',
  'old/openapi.yaml',
])('refuses %s, which no document reaches', async (file) => {
  expect(await lint({ ...soundTree, [file]: 'type: object\n' })).toEqual([
    { rule, at: 'openapi.yaml#/openapi', message: `${file} is reached from no root document. Refer to it with $ref, or delete it.` },
  ]);
});

it('refuses files that only refer to one another', async () => {
  const circle = { 'components/schemas/thing/A.yaml': '$ref: B.yaml\n', 'components/schemas/thing/B.yaml': '$ref: A.yaml\n' };
  expect((await lint({ ...soundTree, ...circle })).map((problem) => problem.rule)).toEqual([rule, rule]);
});

it('counts what another root document of redocly.yaml reaches', async () => {
  const second = 'openapi: 3.1.0\ncomponents:\n  schemas:\n    Second:\n      $ref: components/schemas/thing/Second.yaml\n';
  const tree = { ...soundTree, 'operator.yaml': second, 'components/schemas/thing/Second.yaml': 'type: object\n' };
  expect(await lint(tree, { operator: { root: 'operator.yaml' } })).toEqual([]);
});

it('counts a text that redocly.yaml puts into a document', async () => {
  const tree = { ...soundTree, 'operator.yaml': 'openapi: 3.1.0\n', 'operator/description.md': 'What it is about.\n' };
  const described = { root: 'operator.yaml', decorators: { 'info-description-override': { filePath: 'operator/description.md' } } };
  expect(await lint(tree, { operator: described })).toEqual([]);
  expect(await lint(tree, { operator: { root: 'operator.yaml' } })).toEqual([
    expect.objectContaining({ rule, message: expect.stringMatching(/^operator\/description\.md is reached from no root document/) }),
  ]);
});

it('leaves a file that is not YAML to Redocly, which says where it breaks', async () => {
  const problems = await lint({ ...soundTree, 'components/schemas/thing/ThingState.yaml': 'description: [\n' });
  expect(new Set(problems.map((problem) => problem.rule))).toEqual(new Set(['no-unresolved-refs']));
});
