import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

it('accepts a document that breaks no rule', async () => {
  expect(await lint(soundTree)).toEqual([]);
});

it('refuses an operation with a body and without 422', async () => {
  const tree = withText('paths/thing@{id}@info.yaml', "    '422':\n      $ref: ../components/responses/Refused.yaml\n", '');
  expect((await lint(tree)).map(({ rule }) => rule)).toEqual(['rule/form-can-break-a-rule']);
});

it.each([
  ['nullable', 'components/schemas/thing/ChangeThingForm.yaml', '    enum: [small, large]', '    nullable: true', 'struct'],
  ['an operation without operationId', 'paths/thing@{id}@info.yaml', '  operationId: changeThing\n', '', 'operation-operationId'],
  ['an operation without description', 'paths/thing@{id}@info.yaml', '  description: Changes one thing.\n', '', 'operation-description'],
  ['an operation without summary', 'paths/thing@{id}@info.yaml', '  summary: Change a thing\n', '', 'operation-summary'],
  [
    'an operationId with an underscore',
    'paths/thing@{id}@info.yaml',
    'operationId: changeThing',
    'operationId: thing_change',
    'rule/operation-id',
  ],
  ['a summary with a full stop', 'paths/thing@{id}@info.yaml', 'Change a thing', 'Change a thing.', 'rule/operation-summary'],
  ['a summary of one word', 'paths/thing@{id}@info.yaml', 'Change a thing', 'Change', 'rule/operation-summary'],
  ['a summary of six words', 'paths/thing@{id}@info.yaml', 'Change a thing', 'Change a thing and its name', 'rule/operation-summary'],
  ['an operation without a tag', 'paths/thing@{id}@info.yaml', 'tags: [Thing]', 'tags: []', 'rule/one-tag'],
  ['an operation with two tags', 'paths/thing@{id}@info.yaml', 'tags: [Thing]', 'tags: [Thing, Thing]', 'rule/one-tag'],
  ['a tag that is not declared', 'paths/thing@{id}@info.yaml', 'tags: [Thing]', 'tags: [Other]', 'operation-tag-defined'],
  [
    'a parameter without description',
    'components/parameters/ThingId.yaml',
    'description: Identifier of the thing.\n',
    '',
    'parameter-description',
  ],
  [
    'an example that breaks its schema',
    'components/examples/thing/ChangeThingForm.yaml',
    'name: web1',
    'title: web1',
    'no-invalid-media-type-examples',
  ],
])('refuses %s by a rule of Redocly', async (_what, file, part, replacement, rule) => {
  const rules = (await lint(withText(file, part, replacement))).map((problem) => problem.rule);
  expect(new Set(rules)).toEqual(new Set([rule]));
});
