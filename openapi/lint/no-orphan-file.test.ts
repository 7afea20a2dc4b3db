import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree } from './testing/tree.ts';

const rule = 'reseller/no-orphan-file';

it('accepts reachable files, documentation and tooling', async () => {
  const otherFiles = {
    'package.json': '{}',
    'paths/README.md': 'File names.',
    'lint/rule.ts': '',
    'generated/openapi.yaml': '',
    'dist/sbom.cdx.json': '{}',
    '.hidden': '',
  };
  expect(await lint({ ...soundTree, ...otherFiles })).toEqual([]);
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
    {
      rule,
      at: 'openapi.yaml#/openapi',
      message: `${file} cannot be reached from any root document. Refer to it with $ref, or delete it.`,
    },
  ]);
});

it('refuses files that refer only to each other', async () => {
  const circle = { 'components/schemas/thing/A.yaml': '$ref: B.yaml\n', 'components/schemas/thing/B.yaml': '$ref: A.yaml\n' };
  expect((await lint({ ...soundTree, ...circle })).map((problem) => problem.rule)).toEqual([rule, rule]);
});

it('accepts a file that another root document of redocly.yaml reaches', async () => {
  const second = 'openapi: 3.1.0\ncomponents:\n  schemas:\n    Second:\n      $ref: components/schemas/thing/Second.yaml\n';
  const tree = { ...soundTree, 'operator.yaml': second, 'components/schemas/thing/Second.yaml': 'type: object\n' };
  expect(await lint(tree, { operator: { root: 'operator.yaml' } })).toEqual([]);
});

it('accepts a text that redocly.yaml puts into a document', async () => {
  const tree = { ...soundTree, 'operator.yaml': 'openapi: 3.1.0\n', 'operator/description.md': 'About this document.\n' };
  const described = { root: 'operator.yaml', decorators: { 'info-description-override': { filePath: 'operator/description.md' } } };
  expect(await lint(tree, { operator: described })).toEqual([]);
  expect(await lint(tree, { operator: { root: 'operator.yaml' } })).toEqual([
    expect.objectContaining({
      rule,
      message: expect.stringMatching(/^operator\/description\.md cannot be reached from any root document/),
    }),
  ]);
});

it('leaves invalid YAML to Redocly, which reports where it breaks', async () => {
  const problems = await lint({ ...soundTree, 'components/schemas/thing/ThingState.yaml': 'description: [\n' });
  expect(new Set(problems.map((problem) => problem.rule))).toEqual(new Set(['no-unresolved-refs']));
});
