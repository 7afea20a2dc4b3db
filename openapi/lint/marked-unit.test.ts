import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { operator, treeOfTwo, withText } from './testing/tree.ts';

const rule = 'reseller/marked-unit';
const form = 'operator/components/schemas/thing/ChangeThingForm.yaml';
const response = 'operator/components/schemas/thing/Thing.yaml';
const rules = { [rule]: 'error' };

const problemsWith = async (size: string, file = form, name = '  name:\n') => {
  const tree = withText(file, name, `  size_of_it:\n${size}${name}`, treeOfTwo);
  return (await lint(tree, { operator: { ...operator, rules } }, 'operator')).filter((problem) => problem.rule === rule);
};

it('accepts a unit that the mark and the description name, and values without one', async () => {
  expect(await problemsWith('    type: integer\n    x-unit: seconds\n    description: Its length, in seconds.\n')).toEqual([]);
  expect(await problemsWith('    type: integer\n    description: Its length in metres.\n')).toEqual([]);
});

it('refuses a unit that only the description names', async () => {
  expect(await problemsWith('    type: integer\n    description: Its length, in seconds.\n')).toEqual([
    { rule, at: `${form}#/properties/size_of_it`, message: expect.stringContaining('Add x-unit: seconds') },
  ]);
});

it.each(['Its length.', 'Its length, in milliseconds.'])('refuses x-unit: seconds for "%s"', async (description) => {
  expect(await problemsWith(`    type: integer\n    x-unit: seconds\n    description: ${description}\n`)).toEqual([
    { rule, at: `${form}#/properties/size_of_it`, message: expect.stringContaining('Write "in seconds".') },
  ]);
});

it('leaves responses alone', async () => {
  expect(await problemsWith('    type: integer\n    description: Its length, in seconds.\n', response)).toEqual([]);
});
