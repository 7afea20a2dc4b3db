import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

import { parseDocument } from '../document/document.ts';
import type { Proposal } from '../judge/proposal.ts';
import { applySplices, spliceFor } from './edit.ts';
import { mapSources } from './source-map.ts';
import type { SourceMap } from './source-map.ts';

const TEXT = `openapi: 3.1.0
info: { title: A, version: '1' } # one line
components:
  schemas:
    # A thing.
    Thing:
      type: object
      required: [size, kind, name]   # in this order
      properties:
        size:
          type: integer
          format: int32 # as it was
        kind:
          type: string
          enum:
            - A # first
            - B
        name: { type: string }
        empty: {}
    # The last one.
    Other:
      required:
        - one
        - two
      type: [string, 'null']
`;

async function sources(): Promise<SourceMap> {
  const folder = await mkdtemp(join(tmpdir(), 'edit-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'openapi.yaml');
  await writeFile(file, TEXT);
  return mapSources(parseDocument(parse(TEXT)), file, folder);
}

const THING = '/components/schemas/Thing';

test.each<[string, Proposal, readonly string[], readonly string[]]>([
  [
    'a property',
    { kind: 'add-entry', at: `${THING}/properties`, key: 'more', value: { type: 'array', description: 'More.' } },
    [],
    ['        more:', '          type: array', '          description: More.'],
  ],
  [
    'an entry of a map in one line',
    { kind: 'add-entry', at: `${THING}/properties/name`, key: 'x-seen', value: {} },
    ['        name: { type: string }'],
    ['        name: { type: string, x-seen: {} }'],
  ],
  [
    'an entry of an empty map',
    { kind: 'add-entry', at: `${THING}/properties/empty`, key: 'items', value: { type: 'string' } },
    ['        empty: {}'],
    ['        empty: {items: {type: string}}'],
  ],
  [
    'a map that is not there',
    { kind: 'add-entry', at: '/components/headers', key: 'X-Left', value: { description: 'Left.' } },
    [],
    ['  headers:', '    X-Left:', '      description: Left.'],
  ],
  [
    'a type',
    { kind: 'allow-type', at: `${THING}/properties/size/type`, type: 'null' },
    ['          type: integer'],
    ["          type: [integer, 'null']"],
  ],
  [
    'a further type',
    { kind: 'allow-type', at: '/components/schemas/Other/type', type: 'number' },
    ["      type: [string, 'null']"],
    ["      type: [string, 'null', number]"],
  ],
  ['a value of a list', { kind: 'add-item', at: `${THING}/properties/kind/enum`, value: 'C' }, [], ['            - C']],
  [
    'no longer required, in one line',
    { kind: 'remove-item', at: `${THING}/required`, value: 'kind' },
    ['      required: [size, kind, name]   # in this order'],
    ['      required: [size, name]   # in this order'],
  ],
  [
    'the last one no longer required',
    { kind: 'remove-item', at: `${THING}/required`, value: 'name' },
    ['      required: [size, kind, name]   # in this order'],
    ['      required: [size, kind]   # in this order'],
  ],
  ['no longer required, in lines', { kind: 'remove-item', at: '/components/schemas/Other/required', value: 'one' }, ['        - one'], []],
  ['no format', { kind: 'remove-entry', at: `${THING}/properties/size`, key: 'format' }, ['          format: int32 # as it was'], []],
])('writes %s and changes nothing else', async (_, proposal, gone, come) => {
  const map = await sources();
  const splice = spliceFor(map, proposal);
  const changed = applySplices(TEXT, splice === undefined ? [] : [splice]);
  const [before, after] = [TEXT.split('\n'), changed.split('\n')];
  expect(before.filter((line) => !after.includes(line))).toEqual(gone);
  expect(after.filter((line) => !before.includes(line))).toEqual(come);
  expect(() => parseDocument(parse(changed))).not.toThrow();
});

test.each<[string, Proposal]>([
  ['is there already', { kind: 'add-entry', at: `${THING}/properties`, key: 'size', value: {} }],
  ['is listed already', { kind: 'add-item', at: `${THING}/properties/kind/enum`, value: 'B' }],
  ['is allowed already', { kind: 'allow-type', at: '/components/schemas/Other/type', type: 'null' }],
  ['is gone already', { kind: 'remove-entry', at: `${THING}/properties/size`, key: 'pattern' }],
  ['was never required', { kind: 'remove-item', at: `${THING}/required`, value: 'other' }],
])('does not write again what %s', async (_, proposal) => {
  expect(spliceFor(await sources(), proposal)).toBeUndefined();
});

test('makes two changes at the same place', async () => {
  const map = await sources();
  const add = (key: string) => spliceFor(map, { kind: 'add-entry', at: `${THING}/properties`, key, value: { type: 'string' } });
  const changed = applySplices(
    TEXT,
    [add('one'), add('two')].filter((splice) => splice !== undefined),
  );
  expect(Object.keys(parse(changed).components.schemas.Thing.properties)).toEqual(expect.arrayContaining(['one', 'two', 'size', 'empty']));
  expect(changed).toContain('# The last one.');
});
