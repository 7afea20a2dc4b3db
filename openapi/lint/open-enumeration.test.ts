import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const rule = 'reseller/open-enumeration';
const thing = 'components/schemas/thing/Thing.yaml';
const state = 'components/schemas/thing/ThingState.yaml';
const closed =
  'The enum is marked as seen but allows no other value. Write it as one branch of an anyOf, in place, with a plain "- type: string" as another.';

it('accepts an open enumeration, a const, and a closed enumeration in a form', async () => {
  expect(soundTree['components/schemas/thing/ChangeThingForm.yaml']).toContain('enum: [small, large]');
  expect(await lint(soundTree)).toEqual([]);
});

it.each([
  ['has no anyOf', 'description: State of a thing.\ntype: string\nenum: [OK, LOCK]\nx-seen: true\n', '#/enum'],
  [
    'has no other branch',
    'description: State of a thing.\nanyOf:\n  - type: string\n    enum: [OK, LOCK]\n    x-seen: true\n',
    '#/anyOf/0/enum',
  ],
  [
    'has another branch that does not accept all texts',
    'description: State of a thing.\nanyOf:\n  - type: string\n    enum: [OK, LOCK]\n    x-seen: true\n  - type: string\n    pattern: ^O\n',
    '#/anyOf/0/enum',
  ],
  [
    'is in a oneOf, where a known value matches two branches',
    'description: State of a thing.\noneOf:\n  - type: string\n    enum: [OK, LOCK]\n    x-seen: true\n  - type: string\n',
    '#/oneOf/0/enum',
  ],
])('refuses an enumeration that is marked as seen but %s', async (_what, text, pointer) => {
  const problems = await lint({ ...soundTree, [state]: text });
  expect(problems.filter((problem) => problem.rule === rule)).toEqual([{ rule, at: `${state}${pointer}`, message: closed }]);
});

it('refuses x-seen without an enumeration', async () => {
  expect(await lint(withText(thing, '    const: thing', '    const: thing\n    x-seen: true'))).toEqual([
    {
      rule,
      at: `${thing}#/properties/kind/x-seen`,
      message: 'x-seen is on a schema without enum. Put it next to the enum whose values were seen.',
    },
  ]);
});

it('refuses a closed enumeration in a response at any depth', async () => {
  expect(await lint(withText(state, '    x-seen: true\n', '    x-constraints: shown\n'))).toEqual([
    {
      rule,
      at: `${state}#/anyOf/0/enum`,
      message: expect.stringMatching(
        /^A response has a closed enum.*Use const for a certain value; otherwise mark the enum with x-seen: true/,
      ),
    },
  ]);
});

it('refuses a closed enumeration that a form and a response share', async () => {
  const form = 'components/schemas/thing/ChangeThingForm.yaml';
  const tree = withText(form, '    type: string\n    enum: [small, large]\n    description: Its new size.\n', '    $ref: ThingSize.yaml\n');
  const shared = withText(thing, '  kind:\n', '  size:\n    $ref: ThingSize.yaml\n  kind:\n', tree);
  const size = 'components/schemas/thing/ThingSize.yaml';
  expect(await lint({ ...shared, [size]: 'type: string\nx-constraints: shown\nenum: [small, large]\ndescription: Size.\n' })).toEqual([
    { rule, at: `${size}#/enum`, message: expect.stringContaining('A response has a closed enum') },
  ]);
});
