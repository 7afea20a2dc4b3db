import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { operator, soundTree, treeOfTwo, withText } from './testing/tree.ts';

const rule = 'reseller/extensions';
const file = 'paths/thing@{id}@info.yaml';
const thing = 'components/schemas/thing/Thing.yaml';

it('accepts the keys of the table, and similar names in maps and in examples', async () => {
  expect(soundTree['components/examples/common/Refused.yaml']).toContain('x-anything');
  expect(await lint(soundTree)).toEqual([]);
});

it('refuses a key that the table does not list', async () => {
  expect(await lint(withText(thing, '    const: thing', '    const: thing\n    x-secert: true'))).toEqual([
    {
      rule,
      at: `${thing}#/properties/kind/x-secert`,
      message: expect.stringMatching(/^x-secert is not listed in EXTENSIONS.md.*Use one of x-provenance, .*, or add a row to the table\.$/),
    },
  ]);
});

it('reads the list of keys from the table', async () => {
  const table =
    '| key | where | values | meaning |\n|---|---|---|---|\n| `x-retry` | operation (required) | `never` | |\n| `x-mood` | property | `good` | |\n';
  const tree = withText(thing, '    const: thing', '    const: thing\n    x-mood: good');
  const problems = await lint({ ...tree, 'EXTENSIONS.md': table });
  expect(new Set(problems.map((problem) => problem.message.split(' ')[0]))).toEqual(
    new Set(['x-provenance', 'x-constraints', 'x-effect', 'x-seen']),
  );
});

it.each(['guessed', true])('refuses the provenance %s', async (value) => {
  expect(await lint(withText(thing, '    const: thing', `    const: thing\n    x-provenance: ${String(value)}`))).toEqual([
    {
      rule,
      at: `${thing}#/properties/kind/x-provenance`,
      message: `x-provenance has the value ${JSON.stringify(value)}. EXTENSIONS.md allows: shown, inferred, not-shown.`,
    },
  ]);
});

const consequence = (value: string) => lint(withText(file, '  x-retry: never', `  x-retry: never\n  x-consequence: ${value}`));

it.each([
  '{ reads: getThing, parameters: {} }',
  '{ parameters: {}, cases: [{ text: A. }] }',
  '{ reads: getThing, cases: [{ text: A. }] }',
  '{ reads: getThing, parameters: {}, cases: [] }',
  '{ reads: getThing, parameters: {}, cases: [{ when: { a: b } }] }',
])('refuses x-consequence: %s', async (value) => {
  const message = expect.stringMatching(/^x-consequence has the value .* EXTENSIONS.md allows: a consequence\.$/);
  expect(await consequence(value)).toEqual([{ rule, at: `${file}#/put/x-consequence`, message }]);
});

it('accepts a consequence with a text for each case', async () => {
  expect(
    await consequence('{ reads: getThing, parameters: {}, cases: [{ when: { state: on }, text: It runs. }, { text: It stops. }] }'),
  ).toEqual([]);
});

it.each(['not-shown', '{ minimum: shown }', "{ '*': not-shown, minimum: shown }"])('accepts x-constraints: %s', async (value) => {
  const tree = withText(thing, '    description: Name of the thing.', `    description: Name of the thing.\n    x-constraints: ${value}`);
  expect((await lint(tree)).filter((problem) => problem.rule === rule)).toEqual([]);
});

it.each(['guessed', '{ minimum: guessed }', '{}'])('refuses x-constraints: %s', async (value) => {
  const tree = withText(thing, '    x-constraints: shown', `    x-constraints: ${value}`);
  expect((await lint(tree)).filter((problem) => problem.rule === rule)).toEqual([
    {
      rule,
      at: `${thing}#/properties/kind/x-constraints`,
      message: expect.stringMatching(/^x-constraints has the value .*: shown, inferred, not-shown, or a map of keywords to these\.$/),
    },
  ]);
});

it('refuses a flag that is not true', async () => {
  const problems = await lint(withText(thing, '    const: thing', "    const: thing\n    x-secret: 'true'"));
  expect(problems).toEqual([
    { rule, at: `${thing}#/properties/kind/x-secret`, message: 'x-secret has the value "true". EXTENSIONS.md allows: true.' },
  ]);
});

it('refuses a key in a place where nothing reads it', async () => {
  expect(await lint(withText(file, '  x-retry: never\n', '  x-retry: never\n  x-secret: true\n'))).toEqual([
    {
      rule,
      at: `${file}#/put/x-secret`,
      message: 'x-secret is on a part of kind Operation, where nothing reads it. EXTENSIONS.md allows it on: property.',
    },
  ]);
});

it('requires a key only in documents that do not exclude it', async () => {
  const scopes = async (without: readonly string[]) => {
    const rules = { [rule]: { severity: 'error', without } };
    return (await lint(treeOfTwo, { operator: { ...operator, rules } }, 'operator')).filter(({ message }) => message.startsWith('x-scope'));
  };
  expect(await scopes([])).toMatchObject([{ message: expect.stringMatching(/^x-scope is missing here/) }]);
  expect(await scopes(['x-scope'])).toEqual([]);
});

it('refuses a key that redocly.yaml excludes from a document', async () => {
  const rules = { [rule]: { severity: 'error', without: ['x-seen', 'x-provenance'] } };
  const problems = await lint(treeOfTwo, { operator: { ...operator, rules } }, 'operator');
  expect(problems).toContainEqual({
    rule,
    at: 'operator/components/schemas/thing/ThingState.yaml#/anyOf/0/x-seen',
    message: 'x-seen has no meaning in this document, because redocly.yaml excludes it (without). Remove it.',
  });
  expect(new Set(problems.map(({ message }) => message.split(' ')[0]))).toEqual(new Set(['x-seen', 'x-provenance', 'x-scope']));
});

it('checks keys next to a reference', async () => {
  const tree = withText(thing, '$ref: ThingState.yaml', '$ref: ThingState.yaml\n    x-provenance: guessed');
  expect(await lint(tree)).toEqual([
    { rule, at: `${thing}#/properties/state/x-provenance`, message: expect.stringContaining('x-provenance has the value "guessed"') },
  ]);
});

it('refuses an operation without x-retry', async () => {
  expect(await lint(withText(file, '  x-retry: never\n', ''))).toEqual([
    {
      rule,
      at: `${file}#/put`,
      message: 'x-retry is missing here. EXTENSIONS.md requires it on: Operation; its values are safe, never.',
    },
  ]);
});

it('fails if it cannot read the table', async () => {
  await expect(lint({ ...soundTree, 'EXTENSIONS.md': '| `x-retry` | everywhere | `never` | |\n' })).rejects.toThrow(
    'x-retry is allowed on "everywhere", which is not one of operation, parameter',
  );
});
