import { beforeAll, describe, expect, it } from 'vitest';

import { bundle, partOf } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const INFERRED = '*Inferred: the specification does not state this.*';
const NOT_SHOWN = '*Not shown in the specification; this is our choice.*';

const thing = 'components/schemas/thing/Thing.yaml';
const path = 'paths/thing@{id}@info.yaml';

describe('the provenance remark', () => {
  let document: unknown;
  const operation = (...keys: string[]) => partOf(document, 'paths', '/thing/{id}/info', 'put', ...keys);
  const component = (...keys: string[]) => partOf(document, 'components', ...keys);

  const limited = (name: string, constraints: string) =>
    `  ${name}:\n    type: string\n    x-constraints: ${constraints}\n    maxLength: 9\n    pattern: '^a'\n    description: A text.\n`;

  beforeAll(async () => {
    let tree = withText(path, '  x-retry: never\n', '  x-retry: never\n  x-provenance: inferred\n');
    tree = withText(
      path,
      '      description: The thing was changed.\n',
      '      description: The thing was changed.\n      x-provenance: inferred\n',
      tree,
    );
    tree = withText('components/parameters/ThingId.yaml', 'required: true\n', 'required: true\nx-provenance: inferred\n', tree);
    tree = withText('components/schemas/thing/ThingState.yaml', 'description: State of a thing.\n', 'x-provenance: not-shown\n', tree);
    tree = withText(thing, '    const: thing\n', '    const: thing\n    x-provenance: inferred\n', tree);
    tree = withText(thing, '    description: Name of the thing.\n', '    x-provenance: shown\n    description: Name of the thing.\n', tree);
    const more =
      `  twice:\n    type: string\n    x-provenance: inferred\n    description: |-\n      Already remarked.\n\n      ${INFERRED}\n` +
      '  again:\n    $ref: ThingState.yaml\n' +
      '  sibling:\n    $ref: ThingName.yaml\n    x-provenance: inferred\n' +
      limited('inferredLimit', 'inferred') +
      limited('shownLimit', 'shown') +
      limited('mixed', "{ '*': not-shown, maxLength: shown, pattern: inferred }") +
      limited('exception', '{ maxLength: shown }') +
      limited('unknown', 'not-shown\n    x-provenance: not-shown');
    tree = withText(thing, '  kind:\n', `${more}  kind:\n`, tree);
    document = await bundle({ ...tree, 'components/schemas/thing/ThingName.yaml': 'type: string\ndescription: A name.\n' });
  });

  it('is on operations', () => expect(operation('description')).toBe(`Changes one thing.\n\n${INFERRED}`));
  it('is on responses in place', () => expect(operation('responses', '200', 'description')).toBe(`The thing was changed.\n\n${INFERRED}`));
  it('is once on responses that several operations share', () => {
    expect(component('responses', 'Refused', 'description')).toBe(`The request was refused.\n\n${NOT_SHOWN}`);
  });
  it('is on parameters', () => {
    expect(component('parameters', 'ThingId', 'description')).toBe(`Identifier of the thing.\n\n${INFERRED}`);
  });
  it('is on headers', () => expect(component('headers', 'RetryAfter', 'description')).toBe(`Seconds to wait.\n\n${NOT_SHOWN}`));
  it('is on properties', () => {
    expect(component('schemas', 'Thing', 'properties', 'kind', 'description')).toBe(`Kind of thing.\n\n${INFERRED}`);
  });
  it('is the description of a schema that has none', () => expect(component('schemas', 'ThingState', 'description')).toBe(NOT_SHOWN));
  it('is not repeated', () => {
    expect(component('schemas', 'Thing', 'properties', 'twice', 'description')).toBe(`Already remarked.\n\n${INFERRED}`);
  });
  it('is absent if the specification shows the fact', () => {
    expect(component('schemas', 'Thing', 'properties', 'name', 'description')).toBe('Name of the thing.');
    expect(component('schemas', 'Thing', 'description')).toBe('A thing.');
  });
  it('is only on the target of a reference', () => {
    expect(component('schemas', 'Thing', 'properties', 'again')).toEqual({ $ref: '#/components/schemas/ThingState' });
  });
  it('is next to a reference that has its own provenance', () => {
    expect(component('schemas', 'Thing', 'properties', 'sibling')).toEqual({
      $ref: '#/components/schemas/ThingName',
      'x-provenance': 'inferred',
      description: INFERRED,
    });
    expect(component('schemas', 'ThingName', 'description')).toBe('A name.');
  });
  it('gives the provenance of the limits of a whole form once', () => {
    const form = component('schemas', 'ChangeThingForm');
    expect(partOf(form, 'description')).toBe(`The thing to change.\n\n*Limits not shown; they are our choice.*`);
    expect(partOf(form, 'properties', 'size', 'description')).toBe('Its new size.');
    expect(operation('requestBody', 'description')).toBe(`The new state of the thing.\n\n*Limits not shown; they are our choice.*`);
  });
  it.each([
    ['inferredLimit', 'A text.\n\n*Limits inferred.*'],
    ['shownLimit', 'A text.'],
    ['mixed', 'A text.\n\n*Limits not shown; they are our choice. Shown: `maxLength`. Inferred: `pattern`.*'],
    ['exception', 'A text.\n\n*Shown: `maxLength`.*'],
    ['unknown', `A text.\n\n${NOT_SHOWN}`],
  ])('gives the provenance of the limits of %s', (name, description) => {
    expect(component('schemas', 'Thing', 'properties', name, 'description')).toBe(description);
  });
  it('leaves examples alone', () => {
    expect(component('examples', 'Refused', 'value')).toEqual({ message: 'No.', 'x-anything': 'In an example it is data.' });
  });
});

it('leaves the text of description.md as the description of the document', async () => {
  expect(partOf(await bundle(soundTree), 'info', 'description')).toBe(soundTree['description.md']);
});
