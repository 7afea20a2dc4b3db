import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { withText } from './testing/tree.ts';

const FILE = 'components/schemas/thing/Thing.yaml';
const found = async (beside: string) => {
  const problems = await lint(withText(FILE, '  kind:\n', `  beside:\n    $ref: ThingState.yaml\n    ${beside}\n  kind:\n`));
  return problems.filter(({ rule }) => rule === 'reseller/reference-siblings').map(({ message }) => message);
};

it('refuses a constraint beside a reference', async () => {
  expect(await found('maxLength: 3')).toEqual([expect.stringContaining('maxLength stands beside a $ref')]);
});

it('accepts a remark beside a reference', async () => expect(await found('description: Of this thing.')).toEqual([]));
