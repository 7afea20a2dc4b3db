import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { withText } from './testing/tree.ts';

const rule = 'reseller/decisive-columns';
const file = 'paths/thing@{id}@info.yaml';
const schema = '          schema:\n            $ref: ../components/schemas/thing/Thing.yaml\n';
const example = 'components/examples/thing/ChangeThingChanged.yaml';

/** The document whose response is a list of things, with these keys on the response. */
function withList(keys: string) {
  const listed = withText(
    file,
    schema,
    '          schema:\n            type: array\n            description: Things.\n            items:\n              $ref: ../components/schemas/thing/Thing.yaml\n',
  );
  const described = "    '200':\n      description: The thing was changed.\n";
  const marked = withText(file, described, `${described}${keys}`, listed);
  return withText(example, marked[example] ?? '', 'summary: Changed\nvalue:\n  - name: web\n', marked);
}

it('accepts columns that the items have', async () => {
  expect(await lint(withList('      x-columns: [state, name]\n'))).toEqual([]);
});

it('refuses a column that the items do not have', async () => {
  expect(await lint(withList('      x-columns: [name, price]\n'))).toEqual([
    { rule, at: `${file}#/put/responses/200/x-columns/1`, message: expect.stringContaining('They have: name, state, kind.') },
  ]);
});

it('asks for the columns of items with many values', async () => {
  const names = ['one', 'two', 'three', 'four', 'five', 'six'];
  const more = names.map((name) => `  ${name}:\n    type: string\n    description: A value.\n`).join('');
  const thing = 'components/schemas/thing/Thing.yaml';
  const large = withText(thing, '  state:\n    $ref: ThingState.yaml\n', `  state:\n    $ref: ThingState.yaml\n${more}`, withList(''));
  expect(await lint(large)).toEqual([{ rule, at: `${file}#/put/responses/200`, message: expect.stringContaining('have 9 values') }]);
});
