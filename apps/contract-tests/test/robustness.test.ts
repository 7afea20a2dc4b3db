import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseDocument } from '@reseller/contract';
import { runContract, upgradeDocument } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { memoryJournal } from './memory-journal.ts';
import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { FAKE_KEY, startFakeService } from './selftest/fake-service.ts';
import { THINGS } from './things.ts';
import { temporaryFolder } from './workspace.ts';

const SERVER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

function documentWith(schema: unknown, more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  const response = (one: unknown): unknown => ({ 200: { description: 'Fine.', content: { 'application/json': { schema: one } } } });
  return {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: {
      '/good': { get: { operationId: 'getGood', responses: response({ type: 'object' }) } },
      '/odd': { get: { operationId: 'getOdd', responses: response(schema) } },
    },
    ...more,
  };
}

async function judge(document: unknown, body: unknown = {}): Promise<Report> {
  const { url } = await startServer((_, response) => sendJson(response, 200, body));
  return runContract({ document: parseDocument(document), target: url });
}

function violations({ findings }: Report): readonly string[] {
  return findings.filter(({ verdict }) => verdict === 'violation').map(({ check, message }) => `${check}: ${message}`);
}

describe('an invalid schema', () => {
  test.each<[string, unknown, RegExp]>([
    ['nullable without a type', { nullable: true }, /"nullable" cannot be used without "type"/],
    ['a reference to nothing', { $ref: '#/components/schemas/Missing' }, /no object at|can't resolve/],
    ['a nested reference to nothing', { type: 'object', properties: { a: { items: { $ref: '#/nowhere' } } } }, /nowhere/],
    ['a pattern that is not a regular expression', { type: 'string', pattern: '(' }, /[Ii]nvalid regular expression/],
    ['a type that does not exist', { type: 'text' }, /type/],
    ['a keyword of the wrong kind', { type: 'object', required: true }, /required/],
  ])('with %s makes its operation unverified with the reason, and other operations are judged', async (_, schema, reason) => {
    const { coverage, findings } = await judge(documentWith(schema));
    expect(findings).toEqual([]);
    expect(coverage).toMatchObject([
      { operation: 'getGood', verified: true, verdict: 'passed' },
      { operation: 'getOdd', verified: false, verdict: 'unverified', requests: 0, reason: expect.stringMatching(reason) },
    ]);
  });

  test('of an operation that the run does not touch is not compiled', async () => {
    const { url } = await startServer((_, response) => sendJson(response, 200, {}));
    // The time to compile a schema is that of its size, and a document can have thousands.
    const document = parseDocument(documentWith({ type: 'text' }));
    const { coverage } = await runContract({ document, target: url, only: new Map([['getGood', undefined]]) });
    expect(coverage).toMatchObject([
      { operation: 'getGood', verified: true },
      { operation: 'getOdd', verified: false, reason: 'it is not listed in --only', fields: { seen: 0, all: 0 }, checks: [] },
    ]);
    expect((await runContract({ document, target: url })).coverage[1]?.reason).toMatch(/^one of its schemas is invalid: /);
  });

  test('with an unknown keyword is used, and a note names the ignored keyword', async () => {
    const { coverage, notes } = await judge(documentWith({ type: 'object', optional: true }));
    expect(coverage.map(({ verified }) => verified)).toEqual([true, true]);
    expect(notes).toEqual(['The schema keyword optional is not known and was ignored.']);
  });

  test('applies a pattern that is valid only without the Unicode flag', async () => {
    expect(
      violations(await judge(documentWith({ type: 'object', properties: { a: { type: 'string', pattern: '^[\\w-.]+$' } } }), { a: 'a b' })),
    ).toEqual(['value-allowed: /a must match the pattern in the document']);
  });

  test('lists an unreadable operation with the reason', async () => {
    const document = documentWith(
      {},
      {
        paths: {
          '/a': { get: { parameters: [{ in: 'query' }], responses: {} } },
          '/b': { get: { responses: { 200: { description: 'Fine.' } } } },
        },
      },
    );
    const { coverage } = await judge(document);
    expect(coverage).toMatchObject([
      { operation: 'GET /b', verified: true },
      { operation: 'GET /a', verified: false, reason: expect.stringContaining('has no name') },
    ]);
  });

  test('writes reports even if nothing could be checked', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'openapi.json');
    await writeFile(
      file,
      JSON.stringify(
        documentWith(
          { nullable: true },
          {
            paths: {
              '/odd': {
                get: {
                  operationId: 'getOdd',
                  responses: { 200: { description: 'x', content: { 'application/json': { schema: { nullable: true } } } } },
                },
              },
            },
          },
        ),
      ),
    );
    const { url } = await startServer((_, response) => sendJson(response, 200, {}));
    const { code } = await command(['--target', url.href, '--document', file, '--report', join(folder, 'reports')], {});
    expect(code).toBe(2);
    expect(JSON.parse(await readFile(join(folder, 'reports', 'report.json'), 'utf8')).coverage[0].reason).toContain('nullable');
  });
});

describe('a document in OpenAPI 3.0', () => {
  const document = documentWith(
    {
      type: 'object',
      properties: {
        size: { type: 'number', minimum: 0, exclusiveMinimum: true },
        kind: { type: 'string', enum: ['a'], nullable: true },
        label: { anyOf: [{ type: 'string', enum: ['b'], nullable: true }, { type: 'integer' }] },
        owner: { nullable: true, allOf: [{ $ref: '#/components/schemas/Owner' }] },
      },
    },
    { openapi: '3.0.3', components: { schemas: { Owner: { type: 'object', properties: { name: { type: 'string' } } } } } },
  );

  test('is read as 3.1, with a note', async () => {
    const { document: upgraded, notes } = upgradeDocument(document);
    expect(notes).toEqual(['The document is OpenAPI 3.0.3; it was read as 3.1.']);
    expect(violations(await judge(upgraded, { size: 1, kind: null, label: null, owner: null }))).toEqual([]);
    expect(violations(await judge(upgraded, { size: 0, kind: 'b', owner: 7 }))).toEqual([
      'property-type: /owner must be an object or null',
      'value-allowed: /size must be more than 0',
      'value-allowed: /kind must be one of a, null',
    ]);
  });

  test('is refused by --write', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(document));
    const { url } = await startServer((_, response) => sendJson(response, 200, {}));
    const { code, output } = await command(['--target', url.href, '--document', file, '--write'], {});
    expect({ code, output }).toMatchObject({ code: 2, output: expect.stringContaining('--write needs a document in OpenAPI 3.1') });
  });
});

describe('a change that a run planned to undo', () => {
  const environment = { RESELLER_API_KEY: FAKE_KEY };

  test('is undone even when the undo operation is named', async () => {
    const service = await startFakeService(await loadDocument());
    onTestFinished(() => service.close());
    const only = [`deleteDedicatedServer=${SERVER}`, 'undeleteDedicatedServer'];
    const { code, output } = await command(['--target', service.url, '--mode', 'full', '--yes', '--only', ...only], environment);
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(service.requests.filter((request) => request === `POST /dedicated/${SERVER}/undelete`)).toHaveLength(1);
  });

  test('makes the run fail if it could not be undone, and the run prints the command that undoes it', async () => {
    const refusal = { status: 'error', type: 'conflict', requestID: '0192f672-7daa-7a31-9c02-6de1f0a47b58', message: 'No.', data: null };
    const service = await startFakeService(await loadDocument(), ({ operation, key, response }) =>
      operation?.id === 'undeleteDedicatedServer' && key === 'account' ? { ...response, status: 409, body: refusal } : undefined,
    );
    onTestFinished(() => service.close());
    const { code, output } = await command(
      ['--target', service.url, '--mode', 'full', '--yes', '--only', `deleteDedicatedServer=${SERVER}`],
      environment,
    );
    expect(code).toBe(3);
    expect(output).toContain('Not undone as planned');
    expect(output).toContain(`curl -i -X POST -H "X-SERVICE-APIKEY: $CONTRACT_API_KEY" '${service.url}/dedicated/${SERVER}/undelete'`);
  });

  test('includes the creations of the run when a resource to remove is named as well', async () => {
    const service = await startFakeService(THINGS);
    onTestFinished(() => service.close());
    const { unfinished } = await runContract({
      document: THINGS,
      target: new URL(service.url),
      apiKey: FAKE_KEY,
      mode: 'full',
      only: new Map([
        ['makeThing', undefined],
        ['removeThing', 't-1'],
      ]),
      journal: memoryJournal(),
    });
    expect(service.requests).toEqual(expect.arrayContaining(['DELETE /things/t-1', 'DELETE /things/t-7']));
    expect(unfinished).toEqual([]);
  });
});

describe('reports a connection', () => {
  const document = documentWith({ type: 'object' });

  test('that closes before the response is complete as a violation', async () => {
    const { url } = await startServer(({ path }, response) => {
      if (path !== '/odd') return sendJson(response, 200, {});
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 10 });
      response.write('{"a":', () => response.destroy());
    });
    const report = await runContract({ document: parseDocument(document), target: url });
    expect(violations(report)).toEqual(['body-complete: the connection closed before the response was complete']);
  });

  test('that closes before a chunked response is complete as a violation', async () => {
    const { url } = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"a":', () => response.destroy());
    });
    const report = await runContract({ document: parseDocument(document), target: url });
    expect(violations(report)).toEqual(['body-complete: the connection closed before the response was complete']);
  });
});

test('judges the read after a removal by the schema of the read', async () => {
  const nothing = { description: 'Removed.', content: { 'application/json': { schema: { type: 'null' } } } };
  const thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
  const failure = { type: 'object', required: ['error'], properties: { error: { type: 'string' } } };
  const json = (schema: unknown): unknown => ({ description: 'Fine.', content: { 'application/json': { schema } } });
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
  const document = parseDocument({
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: {
      '/things': {
        get: { operationId: 'list', responses: { 200: json({ type: 'array', items: thing }) } },
        post: { operationId: 'make', responses: { 201: json(thing) } },
      },
      '/things/{id}': {
        parameters: [id],
        get: { operationId: 'read', responses: { 200: json(thing), 404: json(failure) } },
        delete: { operationId: 'remove', responses: { 200: nothing, 404: json(failure) } },
      },
    },
  });
  const things = new Set(['1']);
  const { url } = await startServer(({ method, path }, response) => {
    const name = path.split('/')[2];
    if (name === undefined && method === 'GET')
      return sendJson(
        response,
        200,
        [...things].map((one) => ({ id: one })),
      );
    if (name === undefined && method === 'POST') {
      things.add('2');
      return sendJson(response, 201, { id: '2' });
    }
    if (name === undefined || !['GET', 'DELETE'].includes(method)) return sendJson(response, 405, { error: 'method' });
    if (!things.has(name)) return sendJson(response, 404, { error: 'none' });
    if (method === 'GET') return sendJson(response, 200, { id: name });
    things.delete(name);
    return sendJson(response, 200, 'null');
  });
  const report = await runContract({ document, target: url, mode: 'full', journal: memoryJournal() });
  expect(report.findings).toEqual([]);
  expect(report.unfinished).toEqual([]);
  expect(report.coverage.every(({ verified }) => verified)).toBe(true);
});

describe('--fail-on', () => {
  test.each([
    ['violation', 0],
    ['discovered', 1],
    ['learned', 1],
    ['unverified', 1],
  ])('%s: exit code %d for a status that the document does not describe', async (verdict, expected) => {
    const service = await startFakeService(await loadDocument(), ({ operation, outcome, response }) =>
      operation?.id === 'listDomains' && outcome === 'success' ? { ...response, status: 206 } : undefined,
    );
    onTestFinished(() => service.close());
    const { code } = await command(['--target', service.url, '--fail-on', verdict], { RESELLER_API_KEY: FAKE_KEY });
    expect(code).toBe(expected);
  });

  test('refuses a verdict that does not exist', async () => {
    expect(await command(['--fail-on', 'warning'], {})).toEqual({
      code: 2,
      output: '--fail-on must be one of violation, discovered, learned, unverified.',
    });
  });
});

describe('lists first among undescribed parts', () => {
  test('a property that looks like a secret', async () => {
    const document = documentWith({ type: 'object', properties: { id: { type: 'string' } } });
    const { findings } = await judge(document, { id: '1', colour: 'red', api_token: 'abc', size: 3 });
    const texts = findings.filter(({ verdict }) => verdict === 'discovered').map(({ message }) => message);
    expect(texts[0]).toBe('the document does not describe the property api_token, which looks like a secret');
    expect(texts).toHaveLength(3);
  });

  test('a redirect to a login page', async () => {
    const { url } = await startServer(({ path }, response) =>
      path === '/odd' ? sendJson(response, 302, {}, { location: 'https://id.example/login' }) : sendJson(response, 200, {}),
    );
    const document = documentWith({ type: 'object' });
    const { findings } = await runContract({ document: parseDocument(document), target: url });
    expect(findings.map(({ check, verdict }) => [check, verdict])).toEqual([['login-redirect', 'discovered']]);
  });
});

describe('makes one finding of', () => {
  test('the format and the pattern of the same value', async () => {
    const schema = { type: 'object', properties: { id: { type: 'string', format: 'uuid', pattern: '^[0-9a-f-]{36}$' } } };
    expect(violations(await judge(documentWith(schema), { id: 'x' }))).toEqual(['property-format: /id must be a UUID']);
  });

  test('null and every other rule of the same value', async () => {
    const schema = { type: 'object', properties: { id: { type: 'string', enum: ['a'], allOf: [{ type: 'string', format: 'uuid' }] } } };
    expect(violations(await judge(documentWith(schema), { id: null }))).toEqual(['property-null: /id must be a string']);
  });
});

describe('finds in the bytes of a response', () => {
  const document = documentWith({ type: 'object', properties: { a: { type: 'integer' } } });

  test('a duplicate member', async () => {
    expect(violations(await judge(document, '{"a":1,"a":1}'))).toEqual(['json-unambiguous: /a appears twice in its object']);
  });

  test('a byte order mark', async () => {
    expect(violations(await judge(document, '\uFEFF{"a":1}'))).toEqual(['json-unambiguous: the JSON begins with a byte order mark']);
  });

  test.each([
    ['apiKey', { type: 'apiKey', in: 'header', name: 'X-Key' }],
    ['bearer', { type: 'http', scheme: 'bearer' }],
    ['basic', { type: 'http', scheme: 'basic' }],
    ['query', { type: 'apiKey', in: 'query', name: 'key' }],
    ['cookie', { type: 'apiKey', in: 'cookie', name: 'session' }],
  ])('the credential of the request: %s', async (_, scheme) => {
    const { url } = await startServer((request, response) => {
      const text = request.query.get('key') ?? request.headers['x-key'] ?? request.headers.authorization ?? request.headers.cookie;
      const isKnown = JSON.stringify([text, Buffer.from(String(text).replace('Basic ', ''), 'base64').toString()]).includes('s3cret-key');
      sendJson(response, isKnown ? 200 : 401, isKnown && request.path === '/odd' ? { a: 1, you: text } : { a: 1 });
    });
    const secured = { ...document, security: [{ Key: [] }], components: { securitySchemes: { Key: scheme } } };
    const report = await runContract({ document: parseDocument(secured), target: url, apiKey: 'user:s3cret-key' });
    expect(violations(report)).toEqual(['credential-echoed: the response contains the credential of the request']);
    expect(JSON.stringify(report)).not.toContain('s3cret-key');
    expect(report.coverage.every(({ verified }) => verified)).toBe(true);
  });

  test('more decimals than described', async () => {
    const schema = { type: 'object', properties: { price: { type: 'number', multipleOf: 0.01 } } };
    expect(violations(await judge(documentWith(schema), { price: 19.99 }))).toEqual([]);
    expect(violations(await judge(documentWith(schema), { price: 19.999 }))).toEqual(['value-allowed: /price must be a multiple of 0.01']);
  });
});

test('reports a described header that no response has as unverified', async () => {
  const headers = { 'X-Rate-Left': { schema: { type: 'integer' } } };
  const document = documentWith(
    {},
    { paths: { '/a': { get: { operationId: 'getA', responses: { 200: { description: 'Fine.', headers } } } } } },
  );
  const { findings } = await judge(document);
  expect(findings).toMatchObject([
    { check: 'part-seen', verdict: 'unverified', message: 'the document describes the header X-Rate-Left, but no response had it' },
  ]);
});
