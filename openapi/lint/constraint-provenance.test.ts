import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const rule = 'reseller/constraint-provenance';
const thing = 'components/schemas/thing/Thing.yaml';
const form = 'components/schemas/thing/ChangeThingForm.yaml';

const unmarked = (at: string) => {
  const keyword = at.split('/').at(-1);
  return {
    rule,
    at,
    message: `${keyword} has no provenance. Write x-constraints: shown, inferred or not-shown in this schema, or in one above it.`,
  };
};

it('accepts constraints with a provenance, and an open enumeration, which is not a constraint', async () => {
  expect(soundTree[form]).toContain('x-constraints: not-shown');
  expect(soundTree['components/schemas/thing/ThingState.yaml']).toContain('enum: [OK, LOCK]');
  expect(await lint(soundTree)).toEqual([]);
});

it('refuses constraints without a provenance in any schema above, and lists each of them', async () => {
  expect(await lint(withText(form, 'x-constraints: not-shown\n', ''))).toEqual([
    unmarked(`${form}#/additionalProperties`),
    unmarked(`${form}#/properties/size/enum`),
  ]);
});

/** A schema with each constraint: its type and its text. */
const CONSTRAINTS: Readonly<Record<string, readonly [type: string, constraint: string]>> = {
  minimum: ['integer', 'minimum: 1'],
  maximum: ['integer', 'maximum: 1'],
  exclusiveMinimum: ['integer', 'exclusiveMinimum: 1'],
  exclusiveMaximum: ['integer', 'exclusiveMaximum: 1'],
  multipleOf: ['integer', 'multipleOf: 5'],
  minLength: ['string', 'minLength: 1'],
  maxLength: ['string', 'maxLength: 9'],
  pattern: ['string', "pattern: '^a'"],
  format: ['string', 'format: email'],
  minItems: ['array', 'items: {}\n    minItems: 1'],
  maxItems: ['array', 'items: {}\n    maxItems: 1'],
  uniqueItems: ['array', 'items: {}\n    uniqueItems: true'],
  contains: ['array', 'items: {}\n    contains: {}'],
  minProperties: ['object', 'minProperties: 1'],
  maxProperties: ['object', 'maxProperties: 1'],
  propertyNames: ['object', 'propertyNames: {}'],
  dependentRequired: ['object', 'dependentRequired: { a: [b] }'],
  const: ['string', 'const: a'],
  not: ['string', 'not: {}'],
};

it('requires it for every constraint', async () => {
  const keywords = Object.keys(CONSTRAINTS);
  // One property for each constraint, in one document.
  async function problemsWith(marksFor: (keyword: string) => string) {
    const properties = Object.entries(CONSTRAINTS).map(
      ([keyword, [type, constraint]]) =>
        `  of_${keyword}:\n    type: ${type}\n    description: Something more.\n    ${constraint}\n${marksFor(keyword)}`,
    );
    const problems = await lint(withText(thing, '  kind:\n', `${properties.join('')}  kind:\n`));
    return problems.filter((problem) => problem.rule === rule);
  }
  expect(await problemsWith(() => '')).toEqual(keywords.map((keyword) => unmarked(`${thing}#/properties/of_${keyword}/${keyword}`)));
  expect(await problemsWith(() => '    x-constraints: inferred\n')).toEqual([]);
  expect(await problemsWith((keyword) => `    x-constraints: { ${keyword}: shown }\n`)).toEqual([]);
  expect(await problemsWith(() => '    x-provenance: not-shown\n')).toEqual([]);
});

it('applies a map to the keywords that it names, and passes on only its entry for all others', async () => {
  const tree = (map: string) => withText(form, 'x-constraints: not-shown\n', `x-constraints: ${map}\n`);
  expect(await lint(tree('{ additionalProperties: not-shown }'))).toEqual([unmarked(`${form}#/properties/size/enum`)]);
  expect(await lint(tree("{ '*': not-shown, additionalProperties: shown }"))).toEqual([]);
});

it('refuses a map with a keyword that is not a constraint of its schema', async () => {
  const tree = (map: string) => withText(form, 'x-constraints: not-shown\n', `x-constraints: ${map}\n`);
  expect(await lint(tree("{ '*': not-shown, minimum: shown, required: inferred }"))).toEqual([
    {
      rule,
      at: `${form}#/x-constraints/minimum`,
      message: "x-constraints names minimum, which is not a constraint of this schema. Name one of its own, or '*' for all others.",
    },
  ]);
});

it('refuses a constraint of a parameter and of a header', async () => {
  const parameter = 'components/parameters/ThingId.yaml';
  const header = 'components/headers/RetryAfter.yaml';
  expect(await lint(withText(parameter, '  type: string\n', '  type: string\n  maxLength: 9\n'))).toEqual([
    unmarked(`${parameter}#/schema/maxLength`),
  ]);
  const limited = withText(header, '  type: integer\n', '  type: integer\n  minimum: 1\n');
  // The header is not shown, and so are its limits.
  expect(await lint(limited)).toEqual([]);
  const shown = withText(header, 'x-provenance: not-shown', 'x-provenance: shown', limited);
  expect(await lint(shown)).toEqual([unmarked(`${header}#/schema/minimum`)]);
});

it('refuses a constraint of a shared schema if one path to it has no provenance', async () => {
  const size = 'components/schemas/thing/ThingSize.yaml';
  const schema = 'type: string\nmaxLength: 9\ndescription: Size.\n';
  const inForm = withText(
    form,
    '    type: string\n    enum: [small, large]\n    description: Its new size.\n',
    '    $ref: ThingSize.yaml\n',
  );
  expect(await lint({ ...inForm, [size]: schema })).toEqual([]);
  const inBoth = withText(thing, '  kind:\n', '  size:\n    $ref: ThingSize.yaml\n  kind:\n', inForm);
  expect(await lint({ ...inBoth, [size]: schema })).toEqual([unmarked(`${size}#/maxLength`)]);
});
