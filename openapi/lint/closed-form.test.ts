import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const rule = 'reseller/closed-form';

it('accepts closed forms and open answers', async () => {
  expect(await lint(soundTree)).toEqual([]);
});

it('refuses a form that is open', async () => {
  expect(await lint(withText('components/schemas/thing/ChangeThingForm.yaml', 'additionalProperties: false\n', ''))).toEqual([
    {
      rule,
      at: 'paths/thing@{id}@info.yaml#/put/requestBody/content/application~1x-www-form-urlencoded/schema',
      message: 'The form is open: a field that it does not describe would be ignored. Set additionalProperties: false in its schema.',
    },
  ]);
});

it('refuses an answer that is closed, at any depth', async () => {
  const thing = 'components/schemas/thing/Thing.yaml';
  const deep = '  inner:\n    type: object\n    description: Inside.\n    additionalProperties: false\n';
  expect(await lint(withText(thing, '  kind:\n', `${deep}  kind:\n`))).toEqual([
    {
      rule,
      at: `${thing}#/properties/inner/additionalProperties`,
      message: 'An answer has additionalProperties: false, so a new field would break clients. Leave it out; only forms are closed.',
    },
  ]);
});
