import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseDocument } from '@reseller/contract';
import { diffDocuments, runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { temporaryFolder } from './workspace.ts';

type Json = Readonly<Record<string, unknown>>;

function reference(index: number): Json {
  return { $ref: `#/components/schemas/M${index}` };
}

function schemas(count: number, schemaOf: (index: number) => Json): Json {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`M${index}`, schemaOf(index)]));
}

/** A document with an operation for each of some schemas. */
function documentOf(components: Json, bodies: Json): Json {
  const paths = Object.entries(bodies).map(([name, schema]) => [
    `/${name}`,
    { get: { operationId: name, responses: { 200: { description: 'Fine.', content: { 'application/json': { schema } } } } } },
  ]);
  return {
    openapi: '3.1.0',
    info: { title: 'Large', version: '1' },
    paths: Object.fromEntries(paths),
    components: { schemas: components },
  };
}

async function judge(document: Json, body: unknown): Promise<Report> {
  const { url } = await startServer((_, response) => sendJson(response, 200, body));
  return runContract({ document: parseDocument(document), target: url });
}

function violations({ findings }: Report): readonly string[] {
  return findings.filter(({ verdict }) => verdict === 'violation').map(({ message }) => message);
}

/** As many schemas as there are, each with three references to others. The number of paths through them grows exponentially. */
function mutual(count: number): Json {
  return schemas(count, (index) => ({
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'integer' },
      a: reference((index + 1) % count),
      b: reference((index + 2) % count),
      c: reference((index + 3) % count),
    },
  }));
}

describe('schemas that refer to one another', () => {
  test.each([1, 2, 8, 40])('%i of them: the run ends, judges each depth, and writes small files', async (count) => {
    const folder = await temporaryFolder();
    const file = join(folder, 'api.json');
    await writeFile(file, JSON.stringify(documentOf(mutual(count), { getM: reference(0) })));
    const { url } = await startServer((_, response) => sendJson(response, 200, { id: 1, a: { id: 2, b: { id: 'three' } } }));
    const reports = join(folder, 'reports');
    const { code, output } = await command(['--target', url.href, '--document', file, '--report', reports], {});
    expect(output).toContain('/a/b/id must be an integer');
    expect(code).toBe(1);
    const names = (await readdir(reports)).filter((name) => name !== 'tests');
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(reports, name))).size));
    expect(Math.max(...sizes)).toBeLessThan(200_000);
  });

  test('count each described field once, however many places use it', async () => {
    const { coverage } = await judge(documentOf(mutual(8), { getM: reference(0) }), { id: 1, a: { id: 2 }, b: { id: 3 } });
    // M0 has id, a, b and c; of M1 and M2, only id was seen.
    expect(coverage).toMatchObject([{ verdict: 'passed', fields: { seen: 5, all: 32 } }]);
  });

  test('count the items of lists and the values of maps as fields', async () => {
    const body = {
      type: 'object',
      properties: { list: { items: { type: 'integer' } }, map: { additionalProperties: { type: 'integer' } } },
    };
    const document = documentOf({}, { getBody: body });
    expect((await judge(document, { list: [1, 2], map: {} })).coverage).toMatchObject([{ fields: { seen: 3, all: 4 } }]);
    expect((await judge(document, { list: [], map: { any: 1 } })).coverage).toMatchObject([{ fields: { seen: 3, all: 4 } }]);
  });
});

describe('a chain of references', () => {
  function chain(length: number, isRing: boolean): Json {
    return schemas(length, (index) => {
      const isLast = index === length - 1;
      const next = isLast && !isRing ? {} : { next: reference((index + 1) % length) };
      return { type: 'object', required: ['id'], properties: { id: { type: 'integer' }, ...next } };
    });
  }
  function nested(depth: number, innermost: unknown): unknown {
    return Array.from({ length: depth }).reduce((next: unknown) => ({ id: 1, next }), innermost);
  }

  test.each([1, 2, 400, 1_000])('of %i schemas is judged down to its end', async (length) => {
    const report = await judge(documentOf(chain(length, false), { getM: reference(0) }), nested(length - 1, { id: 'x' }));
    expect(report.coverage).toMatchObject([{ verified: true, verdict: 'violation' }]);
    expect(violations(report)).toEqual([`${'/next'.repeat(length - 1)}/id must be an integer`]);
  });

  test.each([1, 2, 400, 1_000])('of %i schemas in a ring is judged once around, for two operations', async (length) => {
    const bodies = { getFirst: reference(0), getLast: reference(length - 1) };
    const report = await judge(documentOf(chain(length, true), bodies), nested(length, { id: 'x' }));
    expect(report.coverage).toMatchObject([{ verified: true }, { verified: true }]);
    expect(new Set(violations(report))).toEqual(new Set([`${'/next'.repeat(length)}/id must be an integer`]));
  });

  test.each([2, 400])('of %i schemas that are nothing but references is judged', async (length) => {
    const all = schemas(length, (index) => (index === length - 1 ? { type: 'string' } : reference(index + 1)));
    expect(violations(await judge(documentOf(all, { getM: reference(0) }), 7))).toEqual(['the body must be a string']);
  });

  test('counts properties that a schema behind a reference evaluates', async () => {
    const all = {
      Base: { properties: { id: { type: 'integer' }, child: { $ref: '#/components/schemas/Closed' } } },
      Closed: { allOf: [{ $ref: '#/components/schemas/Base' }], unevaluatedProperties: false },
    };
    const document = documentOf(all, { getClosed: { $ref: '#/components/schemas/Closed' } });
    expect(violations(await judge(document, { id: 1, child: { id: 2 } }))).toEqual([]);
    const { findings } = await judge(document, { id: 1, child: { id: 2, odd: 3 } });
    expect(findings.map(({ message }) => message).join()).toMatch(/odd/);
  });
});

describe('a schema that cannot be compiled', () => {
  const ANCHORED = {
    Tree: { $dynamicAnchor: 'node', type: 'object', properties: { children: { items: { $dynamicRef: '#node' } } } },
    FolderTree: { $dynamicAnchor: 'node', allOf: [{ $ref: '#/components/schemas/Tree' }] },
  };
  const IDENTIFIED = {
    Tree: { $id: 'https://yard.example/schemas/tree', type: 'object' },
    FolderTree: { $id: 'https://yard.example/schemas/folder-tree', allOf: [{ $ref: 'tree' }] },
  };
  const WHOLE = { Tree: { type: 'object' }, FolderTree: { properties: { parent: { $ref: '#' } } } };

  test.each<[string, Json, RegExp]>([
    ['an anchor that the document has twice', ANCHORED, /"document\.json#node" resolves to more than one schema/],
    ['a reference relative to its $id', IDENTIFIED, /The reference "tree" at .* leaves the document/],
    ['a reference to the whole document', WHOLE, /The reference "#" is the whole document/],
  ])('because of %s concerns only its operation', async (_, components, reason) => {
    const file = join(await temporaryFolder(), 'api.json');
    const bodies = { getStatus: { type: 'object' }, getTree: { $ref: '#/components/schemas/FolderTree' } };
    await writeFile(file, JSON.stringify(documentOf(components, bodies)));
    const { url } = await startServer((__, response) => sendJson(response, 200, {}));
    const { code, output } = await command(['--target', url.href, '--document', file], {});
    expect(output).toMatch(/getStatus +GET \/getStatus +200 +passed/);
    expect(output).toMatch(new RegExp(`one of its schemas is invalid: .*${reason.source}`));
    expect(code).toBe(0);
  });

  test('behind a reference concerns all operations that reach it, and no others', async () => {
    const all = {
      Odd: { type: 'object', properties: { a: { type: 'string', pattern: '(' } } },
      Middle: { type: 'object', properties: { odd: { $ref: '#/components/schemas/Odd' } } },
      Good: { type: 'object' },
    };
    const bodies = Object.fromEntries(['Middle', 'Odd', 'Good'].map((name) => [`get${name}`, { $ref: `#/components/schemas/${name}` }]));
    const { coverage } = await judge(documentOf(all, { ...bodies, getAgain: reference(0) }), {});
    expect(coverage.map(({ operation, verified }) => [operation, verified])).toEqual([
      ['getMiddle', false],
      ['getOdd', false],
      ['getGood', true],
      ['getAgain', false],
    ]);
  });
});

describe('the comparison of two documents', () => {
  /** Schemas with properties that are a text or another of them, as in the document of Stripe. */
  function expandable(count: number, more: Json = {}): Json {
    return schemas(count, (index) => ({
      type: 'object',
      properties: {
        id: { type: 'string' },
        ...Object.fromEntries(
          [1, 4, 7].map((step) => [`p${step}`, { anyOf: [{ type: 'string' }, reference((index * 7 + step) % count)] }]),
        ),
        ...(index === count - 1 ? more : {}),
      },
    }));
  }
  function changes(before: Json, after: Json): readonly string[] {
    return diffDocuments(parseDocument(before), parseDocument(after)).map(({ impact, what }) => `${impact}: ${what}`);
  }

  test.each([1, 2, 5, 60])('of %i schemas that refer to one another ends, and finds a change once', (count) => {
    const before = documentOf(expandable(count), { getM: reference(0) });
    expect(changes(before, before)).toEqual([]);
    const found = changes(before, documentOf(expandable(count, { more: { type: 'string' } }), { getM: reference(0) }));
    expect(found).toEqual([expect.stringMatching(/^safe: (p\d\.)*more is new$/)]);
  });

  test('takes schemas with other names and the same content as the same', () => {
    const before = documentOf(expandable(5), { getM: { oneOf: [reference(0), reference(1)] } });
    const renamed: Json = JSON.parse(JSON.stringify(before).replaceAll('M', 'N').replaceAll('getN', 'getM'));
    expect(changes(before, renamed)).toEqual([]);
    const other: Json = JSON.parse(JSON.stringify(renamed).replace('"type":"string"', '"type":"integer"'));
    expect(changes(before, other)).not.toEqual([]);
  });
});

test.each([1, 2, 20_000])('a list of %i items that break one rule is one finding', async (length) => {
  const document = documentOf(
    { M0: { type: 'object', properties: { id: { type: 'integer', minimum: 1 } } } },
    { getM: { items: reference(0) } },
  );
  const { findings } = await judge(
    document,
    Array.from({ length }, () => ({ id: 0 })),
  );
  expect(findings.map(({ verdict, message, samples }) => [verdict, message, samples.length])).toEqual([
    ['violation', '/*/id must be an integer of at least 1', Math.min(length, 3)],
  ]);
});
