import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const rule = 'reseller/closed-form';
const OPEN = 'Part of a request body is open, so an undescribed field would be ignored. Set additionalProperties: false here.';

it('accepts closed forms and open responses', async () => {
  expect(await lint(soundTree)).toEqual([]);
});

it('refuses a form that is open', async () => {
  expect(await lint(withText('components/schemas/thing/ChangeThingForm.yaml', 'additionalProperties: false\n', ''))).toEqual([
    {
      rule,
      at: 'components/schemas/thing/ChangeThingForm.yaml#/',
      message: OPEN,
    },
  ]);
});

it('refuses a JSON body with an open part at any depth', async () => {
  const json = withText('paths/thing@{id}@info.yaml', 'application/x-www-form-urlencoded', 'application/json');
  const form = 'components/schemas/thing/ChangeThingForm.yaml';
  const part = (more: string): string => `  inner:\n    type: object\n    description: Inside.\n${more}`;
  const map = part('    additionalProperties:\n      type: string\n');
  const closed = part('    additionalProperties: false\n    properties:\n      a:\n        type: string\n        description: A.\n');
  for (const sound of [map, closed]) expect(await lint(withText(form, '  size:\n', `${sound}  size:\n`, json))).toEqual([]);
  for (const open of [part(''), closed.replace('false', 'true')]) {
    expect(await lint(withText(form, '  size:\n', `${open}  size:\n`, json))).toEqual([
      { rule, at: `${form}#/properties/inner`, message: OPEN },
    ]);
  }
});

it('refuses a response that is closed at any depth', async () => {
  const thing = 'components/schemas/thing/Thing.yaml';
  const deep = '  inner:\n    type: object\n    description: Inside.\n    x-constraints: inferred\n    additionalProperties: false\n';
  expect(await lint(withText(thing, '  kind:\n', `${deep}  kind:\n`))).toEqual([
    {
      rule,
      at: `${thing}#/properties/inner/additionalProperties`,
      message: 'A response has additionalProperties: false, so a new field would break clients. Remove it; only forms are closed.',
    },
  ]);
});
