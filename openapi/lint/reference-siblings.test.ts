import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { withText } from './testing/tree.ts';

const FILE = 'components/schemas/thing/Thing.yaml';
const found = async (sibling: string) => {
  const problems = await lint(withText(FILE, '  kind:\n', `  again:\n    $ref: ThingState.yaml\n    ${sibling}\n  kind:\n`));
  return problems.filter(({ rule }) => rule === 'reseller/reference-siblings').map(({ message }) => message);
};

it('refuses a constraint next to a reference', async () => {
  expect(await found('maxLength: 3')).toEqual([expect.stringContaining('maxLength is next to a $ref')]);
});

it('accepts a remark next to a reference', async () => expect(await found('description: Of this thing.')).toEqual([]));
