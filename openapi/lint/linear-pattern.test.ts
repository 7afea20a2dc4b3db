import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { withText } from './testing/tree.ts';

const found = async (pattern: string) => {
  const problems = await lint(
    withText('components/schemas/thing/Thing.yaml', '    const: thing\n', `    type: string\n    pattern: '${pattern}'\n`),
  );
  return problems.filter(({ rule }) => rule === 'reseller/linear-pattern').map(({ message }) => message);
};

it('accepts a pattern that can match each text in one way', async () => expect(await found('^[a-z]+(-[a-z]+)*$')).toEqual([]));

it('refuses a pattern that takes quadratic time, and shows a text whose repetition does so', async () =>
  expect(await found('^a*[ab]*$')).toEqual([expect.stringContaining('repetitions of "a"')]));

it('refuses a pattern that it cannot judge', async () =>
  expect(await found(String.raw`^(a)\1$`)).toEqual([expect.stringContaining('cannot be judged')]));
