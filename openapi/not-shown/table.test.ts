import { readFileSync } from 'node:fs';

import { beforeAll, describe, expect, it } from 'vitest';

import { constraintsIn } from '../lint/constraints.ts';
import { entriesOf, isFields } from '../lint/nodes.ts';
import type { Fields } from '../lint/nodes.ts';
import { bundle } from '../lint/testing/redocly.ts';
import { soundTree, withText } from '../lint/testing/tree.ts';
import type { Tree } from '../lint/testing/tree.ts';
import { readFacts } from './facts.ts';
import { notShownTable } from './table.ts';

const form = 'components/schemas/thing/ChangeThingForm.yaml';
const thing = 'components/schemas/thing/Thing.yaml';

async function bundleOf(tree: Tree): Promise<Fields> {
  const document = await bundle(tree);
  if (!isFields(document)) throw new Error('The bundle is not a document.');
  return document;
}

describe('the table of a small document', () => {
  let table: string;
  const rows = (heading: string): string[] => {
    const [, section = ''] = table.split(`### ${heading}\n`);
    return (section.split(/\n##/)[0] ?? '').split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| place'));
  };

  beforeAll(async () => {
    let tree = withText(
      form,
      '    description: Its new name.\n',
      '    maxLength: 9\n    pattern: a|b\n    description: Its new name. Here it is not shown.\n',
    );
    tree = withText(
      thing,
      '    description: Name of the thing.\n',
      '    description: Name of the thing.\n    x-provenance: inferred\n',
      tree,
    );
    tree = withText(
      'components/schemas/thing/ThingState.yaml',
      '    x-seen: true\n',
      '    x-seen: true\n    x-provenance: inferred\n',
      tree,
    );
    table = notShownTable(await bundleOf(tree));
  });

  it('lists the responses and headers of an operation', () => {
    expect(rows('`PUT /thing/{id}/info`')).toEqual(['|  | responses `401`, `404`, `422` | not shown |']);
    expect(rows('Refused')).toEqual(['|  | header `Retry-After` | not shown |']);
  });
  it('lists the limits and sentences of a form by field', () => {
    expect(rows('ChangeThingForm')).toEqual([
      '|  | limit `additionalProperties: false` | not shown |',
      '| `name` | limits `maxLength: 9`, `pattern: "a\\|b"` | not shown |',
      '| `name` | Here it is not shown. | not shown |',
      '| `size` | limit `enum: ["small","large"]` | not shown |',
    ]);
  });
  it('lists fields and seen values, and no limit that is shown', () => {
    expect(rows('Thing')).toEqual(['|  | field `name` | inferred |']);
    expect(rows('ThingState')).toEqual(['|  | values `OK`, `LOCK` | inferred |']);
  });
  it('counts each kind of fact', () => {
    expect(table).toContain('| operations | 1 | 0 | 0 |');
    expect(table).toContain('| responses of operations | 1 | 0 | 3 |');
    expect(table).toContain('| limits of values | 1 | 0 | 4 |');
    expect(table).toContain('| values of open enumerations | 0 | 2 | 0 |');
  });
});

it('changes with the document', async () => {
  const before = notShownTable(await bundleOf(soundTree));
  const after = notShownTable(await bundleOf(withText(form, 'x-constraints: not-shown', 'x-constraints: shown')));
  expect(before).toContain('limit `additionalProperties: false`');
  expect(after).not.toContain('limit `additionalProperties: false`');
});

it('counts a schema as shown if it is shown in one place and not shown in another', async () => {
  const tree = withText(
    'components/schemas/common/Refusal.yaml',
    'properties:\n',
    'properties:\n  thing:\n    $ref: ../thing/Thing.yaml\n',
  );
  expect(notShownTable(await bundleOf(tree))).not.toContain('### Thing\n');
});

describe('the reseller document', () => {
  const document: unknown = JSON.parse(readFileSync(new URL('../generated/openapi.json', import.meta.url), 'utf8'));

  it('has a provenance for each constraint of its schemas, and the table counts each constraint', () => {
    if (!isFields(document)) throw new Error('The bundle is not a document.');
    const places = new Set<string>();
    const search = (node: unknown, pointer: string): void => {
      if (typeof node !== 'object' || node === null || /\/(?:examples?|x-[a-z-]+)$/.test(pointer)) return;
      const isSchema = isFields(node) && !/\/(?:properties|headers|responses|paths|schemas|parameters)$/.test(pointer);
      if (isSchema && pointer.includes('schema')) for (const keyword of constraintsIn(node)) places.add(`${pointer} ${keyword}`);
      for (const [key, child] of Array.isArray(node) ? node.entries() : entriesOf(node))
        search(child, `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`);
    };
    search(document, '');
    const limits = readFacts(document).filter(({ kind }) => kind === 'limit');
    expect(new Set(limits.map(({ pointer, text }) => `${pointer} ${text.split(':')[0]}`))).toEqual(places);
    expect(limits.length).toBeGreaterThan(100);
  });

  it.each([
    ['/components/schemas/ListRequestsForm/properties/offset', 'minimum', 'shown'],
    ['/components/schemas/VmIdPath', 'pattern', 'shown'],
    ['/components/schemas/SetDomainNameserversForm', 'dependentRequired', 'shown'],
    ['/components/schemas/RegisterDomainForm', 'dependentRequired', 'shown'],
    ['/components/schemas/ListRequestsResponse/allOf/1/properties/data', 'maxItems', 'shown'],
    ['/components/schemas/RequestId', 'format', 'shown'],
    ['/components/schemas/Handle/properties/email', 'format', 'not-shown'],
    ['/components/schemas/CreateVmForm/properties/hostname', 'maxLength', 'not-shown'],
    ['/components/schemas/CreateVmForm', 'additionalProperties', 'not-shown'],
  ])('says where %s %s comes from', (pointer, keyword, provenance) => {
    if (!isFields(document)) throw new Error('The bundle is not a document.');
    expect(readFacts(document).filter((fact) => fact.pointer === pointer && fact.text.startsWith(`${keyword}:`))).toMatchObject([
      { kind: 'limit', provenance },
    ]);
  });
});
