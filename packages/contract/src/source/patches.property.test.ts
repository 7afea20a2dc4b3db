import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { parsePatch } from 'diff';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { Document, isMap, isScalar, isSeq, parse, visit } from 'yaml';

import { parseDocument } from '../document/document.ts';
import type { OpenApiDocument } from '../document/document.ts';
import type { Finding } from '../judge/finding.ts';
import { createRecorder } from '../run/recorded.ts';
import { editedFiles, placeFindings } from './place-findings.ts';
import { mapSources } from './source-map.ts';

/** A schema and a value that breaks it, for each kind of rule. */
const BROKEN: readonly (readonly [schema: object, value: unknown])[] = [
  [{ type: 'integer' }, 'seven'],
  [{ type: 'integer' }, 1.5],
  [{ type: ['string', 'null'] }, 7],
  [{ type: 'string' }, null],
  [{ type: 'string', minLength: 3 }, 'a'],
  [{ type: 'string', maxLength: 3 }, 'abcd'],
  [{ type: 'string', pattern: '^a' }, 'b'],
  [{ type: 'string', format: 'uuid' }, 'not one'],
  [{ type: 'string', format: 'date-time' }, '31.12.2026'],
  [{ type: 'number', minimum: 3 }, 2],
  [{ type: 'number', exclusiveMaximum: 3 }, 3],
  [{ type: 'number', multipleOf: 2 }, 3],
  [{ const: 'fine' }, 'other'],
  [{ enum: ['a', 'b'] }, 'c'],
  [{ enum: ['a', 'b'] }, null],
  [{ type: 'string', enum: ['a'] }, 4],
  [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, true],
  [{ anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }] }, {}],
  [{ anyOf: [{ type: 'string', enum: ['A', 'B'], 'x-seen': true }, { type: 'string' }] }, 'NEW'],
  [{ anyOf: [{ type: 'string', enum: ['A', 'B'], 'x-seen': true }, { type: 'string' }] }, null],
  [{ oneOf: [{ type: 'string' }, { type: 'boolean' }] }, 3],
  [{ oneOf: [{ type: 'number' }, { minimum: 0 }] }, 3],
  [{ type: 'object', required: ['a', 'b'], properties: { a: { type: 'string' } } }, {}],
  [{ type: 'object', required: ['a'], properties: { a: { type: 'string' } } }, { b: 1 }],
  [{ type: 'object', properties: { a: {} }, additionalProperties: false }, { b: [{ c: 1 }] }],
  [{ type: 'object', dependentRequired: { a: ['b'], c: ['d'] }, properties: { a: {}, b: {} } }, { a: 1 }],
  [{ type: 'array', items: { type: 'string' }, minItems: 1 }, []],
  [{ type: 'array', items: { type: 'string' } }, ['x', 5, null]],
  [{ type: 'array', items: { type: 'string' }, uniqueItems: true }, ['x', 'x']],
  [
    { type: 'object', maxProperties: 1, additionalProperties: { type: 'integer' } },
    { a: 1, b: 2 },
  ],
  [{ not: { const: 3 } }, 3],
];

const brokenAnywhere = fc.record({
  parts: fc.uniqueArray(fc.nat(BROKEN.length - 1), { minLength: 1, maxLength: 4 }),
  wraps: fc.array(fc.constantFrom('list', 'map', 'object'), { maxLength: 2 }),
  isFlow: fc.boolean(),
});

test('learned and discovered findings propose a change after which they no longer occur', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'patches-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'openapi.yaml');
  const one = async (made: {
    readonly parts: readonly number[];
    readonly wraps: readonly string[];
    readonly isFlow: boolean;
  }): Promise<void> => {
    const { text, body } = build(made);
    await writeFile(file, text);
    const comments = commentsIn(text);
    for (let round = 0; ; round++) {
      const now = await readBack(file);
      const found = judge(now.document, body);
      if (found.length === 0) return;
      expect(round).toBeLessThan(5);
      expect(found.filter(({ proposals }) => proposals.length === 0).map(({ check, message }) => `${check} ${message}`)).toEqual([]);
      const sources = await mapSources(now.document, file, tmpdir());
      // One finding with the changes of all has several hunks.
      const all = found.slice(0, 1).map((finding) => ({ ...finding, proposals: found.flatMap(({ proposals }) => proposals) }));
      for (const { patch = '', ...finding } of placeFindings([...found, ...all], sources, folder))
        expect(patched(now.text, patch)).toBe(editedFiles([finding], sources).get(file) ?? now.text);
      await write(file, now.document, found);
      const next = await readBack(file);
      const still = new Set(judge(next.document, body).map(({ id }) => id));
      expect(found.filter(({ id }) => still.has(id)).map(({ message }) => `${message} in ${next.text}`)).toEqual([]);
      expect(commentsIn(next.text)).toEqual(expect.arrayContaining(comments.filter((comment) => comment.includes('kept'))));
    }
  };
  for (let index = 0; index < BROKEN.length; index++) for (const isFlow of [false, true]) await one({ parts: [index], wraps: [], isFlow });
  await fc.assert(fc.asyncProperty(brokenAnywhere, one), { numRuns: 60 });
});

function build({
  parts,
  wraps,
  isFlow,
}: {
  readonly parts: readonly number[];
  readonly wraps: readonly string[];
  readonly isFlow: boolean;
}): {
  readonly text: string;
  readonly body: unknown;
} {
  const chosen = parts.map((part) => BROKEN[part] ?? [{}, 0]);
  let schema: object = { type: 'object', properties: Object.fromEntries(chosen.map(([one], index) => [`p${index}`, one])) };
  let body: unknown = Object.fromEntries(chosen.map(([, value], index) => [`p${index}`, value]));
  for (const wrap of wraps) {
    if (wrap === 'list') [schema, body] = [{ type: 'array', items: schema }, [body]];
    else if (wrap === 'map') [schema, body] = [{ type: 'object', additionalProperties: schema }, { 'a key': body }];
    else [schema, body] = [{ type: 'object', properties: { inner: schema } }, { inner: body }];
  }
  const response = { description: 'ok', 'x-provenance': 'not-shown', content: { 'application/json': { schema } } };
  const document = new Document({
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: { '/thing': { get: { operationId: 'getThing', responses: { '200': response } } } },
  });
  visit(document, {
    Pair(_, { key, value }) {
      if (isScalar(key) && ['schema', 'properties', 'type'].includes(String(key.value))) key.commentBefore = ` kept: ${String(key.value)}`;
      const isLeaf =
        (isMap(value) || isSeq(value)) &&
        value.items.length < 4 &&
        isScalar(key) &&
        /^(?:p\d|required|enum|anyOf|type)$/.test(String(key.value));
      if (isFlow && isLeaf && (isMap(value) || isSeq(value))) value.flow = true;
    },
  });
  return { text: document.toString(), body };
}

async function readBack(file: string): Promise<{ readonly document: OpenApiDocument; readonly text: string }> {
  const text = await readFile(file, 'utf8');
  return { text, document: parseDocument(parse(text)) };
}

function judge(document: OpenApiDocument, body: unknown): readonly Finding[] {
  const recorder = createRecorder(document);
  recorder.take({
    method: 'GET',
    url: 'http://target.example/thing',
    requestHeaders: {},
    requestBody: undefined,
    at: '',
    status: 200,
    responseHeaders: { 'content-type': 'application/json' },
    bytes: new TextEncoder().encode(JSON.stringify(body)),
    milliseconds: 1,
  });
  return recorder.report(new URL('http://target.example')).findings.filter(({ verdict }) => verdict !== 'unverified');
}

async function write(file: string, document: OpenApiDocument, findings: readonly Finding[]): Promise<void> {
  for (let pass = 0; pass < 20; pass++) {
    const files = editedFiles(findings, await mapSources(document, file, tmpdir()));
    if (files.size === 0) return;
    for (const [path, text] of files) await writeFile(path, text);
  }
  throw new Error('The changes do not come to an end.');
}

/** The text after a patch whose hunks name the lines where they belong. Programs that apply patches would also find them elsewhere. */
function patched(text: string, patch: string): string {
  const before = text.split('\n');
  const after = [...before];
  let shift = 0;
  for (const { oldStart, newStart, lines } of parsePatch(patch).flatMap(({ hunks }) => hunks)) {
    const [old, fresh] = [/^[ -]/, /^[ +]/].map((sign) => lines.filter((line) => sign.test(line)).map((line) => line.slice(1)));
    expect(before.slice(oldStart - 1, oldStart - 1 + (old?.length ?? 0))).toEqual(old);
    expect(newStart).toBe(oldStart + shift);
    after.splice(newStart - 1, old?.length ?? 0, ...(fresh ?? []));
    shift += (fresh?.length ?? 0) - (old?.length ?? 0);
  }
  return after.join('\n');
}

function commentsIn(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line.trimStart().startsWith('#'))
    .map((line) => line.trim());
}
