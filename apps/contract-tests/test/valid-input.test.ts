/** Bodies that the tool calls valid are valid, and a service that refuses them all does not pass. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseDocument } from '@reseller/contract';
import { planContract, runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { memoryJournal } from './memory-journal.ts';
import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { temporaryFolder } from './workspace.ts';

const ok = { 200: { description: 'Done.' }, 400: { description: 'Refused.' } };

function documentWith(type: string, schema: unknown, more: object = {}): unknown {
  const post = { operationId: 'send', requestBody: { required: true, content: { [type]: { schema, ...more } } }, responses: ok };
  return { openapi: '3.1.0', info: { title: 'Forms', version: '1' }, paths: { '/send': { post } } };
}

describe('a form of optional fields that cannot be undone', () => {
  const properties = { b: { type: 'boolean' }, n: { type: 'integer' } };
  const document = parseDocument(
    documentWith('application/x-www-form-urlencoded', { type: 'object', additionalProperties: false, properties }),
  );

  async function judge(accepts: (form: URLSearchParams) => boolean): Promise<Report> {
    const { url } = await startServer(({ method, body }, response) => {
      sendJson(response, method !== 'POST' ? 405 : accepts(new URLSearchParams(body)) ? 200 : 400, '');
    });
    return runContract({ document, target: url, mode: 'full', also: new Map([['send', undefined]]), journal: memoryJournal() });
  }

  const isRight = (form: URLSearchParams): boolean =>
    [...form].every(([name, value]) => (name === 'b' ? /^(?:true|false)$/.test(value) : name === 'n' && /^-?\d+$/.test(value)));

  test('passes at a service that accepts valid values and refuses others', async () => {
    expect((await judge(isRight)).findings).toEqual([]);
  });

  test('is a violation at a service that refuses every valid value', async () => {
    const { findings } = await judge((form) => form.size === 0);
    expect(findings.filter(({ verdict }) => verdict === 'violation').map(({ check, message }) => [check, message])).toEqual([
      ['form-accepted', 'the service refuses every valid body that has a field'],
    ]);
  });

  test('has an unverified field where the service refuses one field', async () => {
    const { findings } = await judge((form) => isRight(form) && !form.has('n'));
    expect(findings.map(({ verdict }) => verdict)).not.toContain('violation');
    expect(findings.map(({ message }) => message)).toContain('the field n got invalid values, but no accepted request had a valid one');
  });
});

describe('a body that is sent as valid', () => {
  const text = { type: 'string' };
  const open = { type: 'object', properties: { a: text, b: { type: 'integer' } } };
  test.each<[string, object, object, unknown]>([
    [
      'is the example, although no field is required',
      { ...open, minProperties: 1 },
      { example: { a: 'from the example' } },
      { a: 'from the example' },
    ],
    ['has a field where one is needed', { ...open, minProperties: 1 }, {}, { a: 'contract-test' }],
    ['has two fields where two are needed', { ...open, minProperties: 2 }, {}, { a: 'contract-test', b: 1 }],
    ['has the field of one alternative', { ...open, anyOf: [{ required: ['b'] }, { required: ['a', 'b'] }] }, {}, { b: 1 }],
    ['fits exactly one of two open objects', { ...open, oneOf: [{ required: ['a'] }, { required: ['b'] }] }, {}, { a: 'contract-test' }],
    ['is empty where nothing else is known', { type: 'object', properties: {} }, {}, {}],
  ])('%s', async (_, schema, more, expected) => {
    const document = parseDocument(documentWith('application/json', schema, more));
    const options = { document, target: new URL('http://127.0.0.1:9'), mode: 'full' as const, journal: memoryJournal() };
    const { steps } = await planContract({ ...options, also: new Map([['send', undefined]]) });
    expect(steps.find(({ purpose, operation }) => purpose === 'call' && operation.id === 'send')?.form?.values).toEqual(expected);
  });
});

test.each([
  ['3600', /The rate limit of http\S+ refuses the requests \(429\), so nothing was checked\. It asks to wait 3600 seconds/],
  [undefined, /It does not say how long to wait/],
  [new Date(Date.now() + 7_200_000).toUTCString(), /It asks to wait 7[12]\d\d seconds/],
])('names the rate limit as the reason when every request is refused with 429 and Retry-After %s', async (retry, message) => {
  const { url } = await startServer((_, response) => sendJson(response, 429, {}, retry === undefined ? {} : { 'retry-after': retry }));
  const file = join(await temporaryFolder(), 'api.json');
  await writeFile(
    file,
    JSON.stringify({ openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: { '/a': { get: { operationId: 'a', responses: ok } } } }),
  );
  const { code, output } = await command(['--target', url.href, '--document', file], {});
  expect({ code, output }).toEqual({ code: 2, output: expect.stringMatching(message) });
});

describe('bodies of other kinds', () => {
  const text = { type: 'string' };

  async function receive(
    document: unknown,
    values: Readonly<Record<string, string>> = {},
  ): Promise<readonly (readonly [string | undefined, string])[]> {
    const { url, received } = await startServer((_, response) => sendJson(response, 200, {}));
    const given = { values, headers: {} };
    const also = new Map([['send', undefined]]);
    const report = await runContract({
      document: parseDocument(document),
      target: url,
      mode: 'full',
      also,
      given,
      journal: memoryJournal(),
    });
    expect(report.coverage.map(({ operation, verified }) => [operation, verified])).toEqual([['send', true]]);
    return received.filter(({ body }) => body !== '').map(({ headers, body }) => [headers['content-type'], body]);
  }

  test('a list is sent as its example', async () => {
    const schema = { type: 'array', items: { type: 'object', properties: { id: text } } };
    expect(await receive(documentWith('application/json', schema, { example: [{ id: 'a' }] }))).toContainEqual([
      'application/json',
      '[{"id":"a"}]',
    ]);
  });

  test('a form with a file is sent in parts, which a parser of the platform reads', async () => {
    const schema = {
      type: 'object',
      required: ['file', 'note'],
      properties: { file: { ...text, format: 'binary' }, note: { ...text, examples: ['a & b'] } },
    };
    const [[type = '', body = ''] = []] = await receive(documentWith('multipart/form-data', schema));
    const form = await new Response(body, { headers: { 'content-type': type } }).formData();
    expect(form.get('note')).toBe('a & b');
    expect(form.get('file')).toBeInstanceOf(File);
  });

  test('a body without an example gets the values of the user', async () => {
    const schema = {
      type: 'object',
      required: ['zone'],
      properties: { zone: { ...text, pattern: '^(?=.*-zone$)[a-z-]{9,40}$' }, ttl: { type: 'integer' } },
    };
    const bodies = await receive(documentWith('application/json', schema), { zone: 'my-own-zone', ttl: '60' });
    expect(bodies).toContainEqual(['application/json', '{"zone":"my-own-zone","ttl":60}']);
  });
});
