import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const rule = 'reseller/described';
const thing = 'components/schemas/thing/Thing.yaml';

it('accepts parts that are described in place or at the target of their reference', async () => {
  expect(await lint(soundTree)).toEqual([]);
});

it('refuses a property without description', async () => {
  expect(await lint(withText(thing, '    description: Name of the thing.\n', ''))).toEqual([
    {
      rule,
      at: `${thing}#/properties/name`,
      message: 'The property name has no description. Describe it in a full sentence, with its unit and its limits.',
    },
  ]);
});

it('refuses a blank description', async () => {
  const problems = await lint(withText(thing, 'description: Name of the thing.', "description: ' '"));
  expect(problems).toEqual([{ rule, at: `${thing}#/properties/name`, message: expect.stringContaining('has no description') }]);
});

it('refuses a property that refers to a schema without description', async () => {
  expect(await lint(withText('components/schemas/thing/ThingState.yaml', 'description: State of a thing.\n', ''))).toEqual([
    {
      rule,
      at: `${thing}#/properties/state`,
      message: 'The property state has no description, because ThingState.yaml has none. Describe it there in a full sentence.',
    },
  ]);
});

it('finds a property at any depth', async () => {
  const deep =
    '  list:\n    type: array\n    description: A list.\n    items:\n      type: object\n      properties:\n        deep:\n          type: string\n';
  expect(await lint(withText(thing, '  kind:\n', `${deep}  kind:\n`))).toEqual([
    {
      rule,
      at: `${thing}#/properties/list/items/properties/deep`,
      message: expect.stringContaining('The property deep has no description'),
    },
  ]);
});

it('refuses a header and a request body without description', async () => {
  const tree = withText('components/headers/RetryAfter.yaml', 'description: Seconds to wait.\n', '');
  expect(await lint(withText('paths/thing@{id}@info.yaml', '    description: The new state of the thing.\n', '', tree))).toEqual([
    {
      rule,
      at: 'paths/thing@{id}@info.yaml#/put/requestBody',
      message: 'The request body has no description. Describe it in a full sentence.',
    },
    { rule, at: 'components/headers/RetryAfter.yaml#/', message: 'The header has no description. Describe it in a full sentence.' },
  ]);
});
