import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { withText } from './testing/tree.ts';

const rule = 'reseller/effect-of-write';
const file = 'paths/thing@{id}@info.yaml';
const withMarks = (marks: string) => withText(file, '  x-effect: none\n', marks);

it('refuses a change whose effect is not named', async () => {
  expect(await lint(withMarks(''))).toEqual([{ rule, at: `${file}#/put`, message: expect.stringContaining('has no x-effect') }]);
});

it.each([
  ['x-billable', 'cost'],
  ['x-destructive', 'end'],
])('refuses %s with another effect than %s', async (mark, effect) => {
  expect(await lint(withMarks(`  x-effect: none\n  ${mark}: true\n`))).toEqual([
    { rule, at: `${file}#/put/x-effect`, message: expect.stringContaining(`must be ${effect}`) },
  ]);
  expect(await lint(withMarks(`  x-effect: ${effect}\n  ${mark}: true\n`))).toEqual([]);
});

it('refuses an effect of an operation that changes nothing', async () => {
  expect(await lint(withMarks('  x-effect: none\n  x-read-only: true\n'))).toEqual([
    { rule, at: `${file}#/put/x-effect`, message: expect.stringContaining('Remove x-effect') },
  ]);
});
