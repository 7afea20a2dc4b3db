import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { operator, soundTree, type Tree, treeOfTwo, withText } from './testing/tree.ts';

const rule = 'reseller/component-file-name';
const thing = 'components/schemas/thing/Thing.yaml';
const state = 'components/schemas/thing/ThingState.yaml';

/** The tree in which the state of a thing is kept elsewhere. */
function withStateIn(file: string, reference: string): Tree {
  const { [state]: text = '', ...rest } = withText(thing, '$ref: ThingState.yaml', `$ref: ${reference}`);
  return { ...rest, [file]: text };
}

it('accepts components that are named like types and kept in the folder of their kind', async () => {
  expect(await lint(soundTree)).toEqual([]);
});

it.each([
  ['outside an area', 'components/schemas/ThingState.yaml', '../ThingState.yaml'],
  ['in the folder of another kind', 'components/parameters/ThingState.yaml', '../../parameters/ThingState.yaml'],
  ['with a name that is not PascalCase', 'components/schemas/thing/thing-state.yaml', 'thing-state.yaml'],
])('refuses a component %s', async (_what, file, reference) => {
  expect(await lint(withStateIn(file, reference))).toEqual([
    {
      rule,
      at: `${thing}#/properties/state/$ref`,
      message: `${file} is used as Schema. Such a file is named like a type and kept in the folder of its kind: components/schemas/<area>/PascalCase.yaml.`,
    },
  ]);
});

it('refuses a reference into a file', async () => {
  const tree = withText(thing, '$ref: ThingState.yaml', "$ref: 'ThingState.yaml#/anyOf/1'\n    description: State.");
  expect(await lint(tree)).toContainEqual({
    rule,
    at: `${thing}#/properties/state/$ref`,
    message: 'ThingState.yaml#/anyOf/1 points into a file. Give the part a file of its own in components/schemas/<area> and refer to that.',
  });
});

it('refuses a file for a part that is no component', async () => {
  const tree = withText('openapi.yaml', 'servers:\n', 'servers:\n  - $ref: components/Server.yaml\n');
  expect(await lint({ ...tree, 'components/Server.yaml': 'url: https://b.reseller.invalid\n' })).toEqual([
    {
      rule,
      at: 'openapi.yaml#/servers/0/$ref',
      message:
        'A file of its own stands in the place of a part of kind Server. Write it here; files are for Schema, Example, Parameter, Response, Header, SecurityScheme.',
    },
  ]);
});

it('refuses a component of the root document that is written there or called otherwise than its file', async () => {
  const inline = '    Other:\n      type: http\n      scheme: bearer\n';
  const tree = withText('openapi.yaml', '    ApiKey:\n      $ref: components/securitySchemes/ApiKey.yaml\n', inline);
  const both = withText('openapi.yaml', inline, `${inline}    Key:\n      $ref: components/securitySchemes/ApiKey.yaml\n`, tree);
  const problems = await lint(withText('openapi.yaml', '- ApiKey: []', '- Key: []', both));
  expect(problems.filter((problem) => problem.rule === rule)).toEqual([
    {
      rule,
      at: 'openapi.yaml#/components/securitySchemes/Other',
      message: 'The component Other is written in the root document. Move it to components/securitySchemes/…/Other.yaml.',
    },
    {
      rule,
      at: 'openapi.yaml#/components/securitySchemes/Key/$ref',
      message: 'The component Key is kept in components/securitySchemes/ApiKey.yaml. The name of a component and of its file are the same.',
    },
  ]);
});

it('refuses two components of one name, by the rule of Redocly', async () => {
  const tree = withText(thing, '  kind:\n', '  other:\n    $ref: ../common/ThingState.yaml\n  kind:\n');
  const problems = await lint({ ...tree, 'components/schemas/common/ThingState.yaml': soundTree[state] ?? '' });
  expect(problems.map((problem) => problem.rule)).toContain('component-name-unique');
});

it('refuses a further document that uses a component of the first', async () => {
  expect(await lint(treeOfTwo, { operator }, 'operator')).toEqual([]);
  const stray = withText(`operator/${thing}`, '$ref: ThingState.yaml', `$ref: ../../../../${state}`, treeOfTwo);
  expect(await lint(stray, { operator }, 'operator')).toEqual([
    {
      rule,
      at: `operator/${thing}#/properties/state/$ref`,
      message: `${state} is used as Schema. Such a file is named like a type and kept in the folder of its kind: operator/components/schemas/<area>/PascalCase.yaml.`,
    },
  ]);
});
