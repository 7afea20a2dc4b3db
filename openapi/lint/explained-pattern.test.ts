import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { withText } from './testing/tree.ts';

const rule = 'reseller/explained-pattern';
const form = 'components/schemas/thing/ChangeThingForm.yaml';
const name = '    description: Its new name.\n';
const withName = (keywords: string) => withText(form, name, `${name}${keywords}`);

it('accepts a pattern with an explanation', async () => {
  expect(await lint(withName('    pattern: ^[a-z0-9]+$\n    x-expected: lower-case letters, such as web\n'))).toEqual([]);
});

it('refuses a pattern without an explanation', async () => {
  expect(await lint(withName('    pattern: ^[a-z0-9]+$\n'))).toEqual([
    { rule, at: `${form}#/properties/name/pattern`, message: expect.stringContaining('The pattern has no x-expected.') },
  ]);
});

it.each(['must be lower-case letters', 'lower-case letters.'])('refuses "%s", which does not complete a message', async (text) => {
  expect(await lint(withName(`    pattern: ^[a-z0-9]+$\n    x-expected: ${text}\n`))).toEqual([
    { rule, at: `${form}#/properties/name/x-expected`, message: expect.stringContaining('Remove "must be" and the full stop.') },
  ]);
});

it('refuses an explanation without a pattern', async () => {
  expect(await lint(withName('    x-expected: lower-case letters\n'))).toEqual([
    { rule, at: `${form}#/properties/name/x-expected`, message: expect.stringContaining('there is none here') },
  ]);
});
