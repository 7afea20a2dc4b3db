import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { operator, soundTree, treeOfTwo, withText } from './testing/tree.ts';
import type { Tree } from './testing/tree.ts';

const rule = 'reseller/component-file-name';
const thing = 'components/schemas/thing/Thing.yaml';
const state = 'components/schemas/thing/ThingState.yaml';

/** The tree with the schema of a state in another file. */
function withStateIn(file: string, reference: string): Tree {
  const { [state]: text = '', ...rest } = withText(thing, '$ref: ThingState.yaml', `$ref: ${reference}`);
  return { ...rest, [file]: text };
}

it('accepts components that are named like types in the folder of their kind', async () => {
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
      message: `${file} is used as a Schema. Name the file like a type and put it into the folder of its kind: components/schemas/<area>/PascalCase.yaml.`,
    },
  ]);
});

it('refuses a reference into a file', async () => {
  const tree = withText(thing, '$ref: ThingState.yaml', "$ref: 'ThingState.yaml#/anyOf/1'\n    description: State.");
  expect(await lint(tree)).toContainEqual({
    rule,
    at: `${thing}#/properties/state/$ref`,
    message:
      'ThingState.yaml#/anyOf/1 points into a file. Move the part to a separate file in components/schemas/<area> and refer to that file.',
  });
});

it('refuses a file for a part that is not a component', async () => {
  const tree = withText('openapi.yaml', 'servers:\n', 'servers:\n  - $ref: components/Server.yaml\n');
  expect(await lint({ ...tree, 'components/Server.yaml': 'url: https://b.reseller.invalid\n' })).toEqual([
    {
      rule,
      at: 'openapi.yaml#/servers/0/$ref',
      message:
        'A part of kind Server is in a separate file. Write it here; separate files are for Schema, Example, Parameter, Response, Header, SecurityScheme.',
    },
  ]);
});

it('refuses a component that is written in the root document or named differently from its file', async () => {
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
      message: 'The component Key is in components/securitySchemes/ApiKey.yaml. Give the component and its file the same name.',
    },
  ]);
});

it('refuses two components with the same name, by a rule of Redocly', async () => {
  const tree = withText(thing, '  kind:\n', '  other:\n    $ref: ../common/ThingState.yaml\n  kind:\n');
  const problems = await lint({ ...tree, 'components/schemas/common/ThingState.yaml': soundTree[state] ?? '' });
  expect(problems.map((problem) => problem.rule)).toContain('component-name-unique');
});

it('refuses another document that uses a component of the first', async () => {
  expect(await lint(treeOfTwo, { operator }, 'operator')).toEqual([]);
  const stray = withText(`operator/${thing}`, '$ref: ThingState.yaml', `$ref: ../../../../${state}`, treeOfTwo);
  expect(await lint(stray, { operator }, 'operator')).toEqual([
    {
      rule,
      at: `operator/${thing}#/properties/state/$ref`,
      message: `${state} is used as a Schema. Name the file like a type and put it into the folder of its kind: operator/components/schemas/<area>/PascalCase.yaml.`,
    },
  ]);
});
