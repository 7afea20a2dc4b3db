import { expect, it } from 'vitest';

import { lint, type Problem } from './testing/redocly.ts';
import { withText } from './testing/tree.ts';

const rule = 'reseller/portable-pattern';
const form = 'components/schemas/thing/ChangeThingForm.yaml';
const name = '    description: Its new name.\n';
/** What the rule says of a pattern. The example of the form need not match it. */
async function judged(pattern: string): Promise<readonly Problem[]> {
  const problems = await lint(withText(form, name, `${name}    pattern: '${pattern}'\n    x-expected: a name\n`));
  return problems.filter((problem) => problem.rule === rule);
}

it.each(['^[^\\x00-\\x1f]+$', '^(a|b){1,3}(\\.[0-9]+)?$', '^\\\\p$'])('accepts %s', async (pattern) => {
  expect(await judged(pattern)).toEqual([]);
});

it.each([
  ['^\\P{Cc}+$', 'Unicode classes'],
  ['^(?!-)[a-z]+$', 'look-around'],
  ['^(?<=a)b$', 'look-around'],
  ['^(a)\\1$', 'back-references'],
  ['^(?<x>a)$', 'named groups'],
  ['^\\u00B7$', 'Unicode escapes'],
])('refuses %s', async (pattern, construct) => {
  expect(await judged(pattern)).toContainEqual({ rule, at: `${form}#/properties/name/pattern`, message: expect.stringContaining(construct) });
});

it('refuses what JavaScript reads only without the flag u', async () => {
  expect(await judged('^\\-$')).toEqual([
    { rule, at: `${form}#/properties/name/pattern`, message: expect.stringContaining('with the flag u') },
  ]);
});
