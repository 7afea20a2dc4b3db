import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseDocument } from '@reseller/contract';
import { createRecorder, runContract } from '@reseller/contract/engine';
import type { Report, RawExchange } from '@reseller/contract/engine';
import { describe, expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { FAKE_KEY, startFakeService } from './selftest/fake-service.ts';
import type { FakeService } from './selftest/fake-service.ts';
import { temporaryFolder } from './workspace.ts';

const thing = { type: 'object', properties: { id: { type: 'string' } } };

function returning(schema: unknown): unknown {
  return { 200: { description: 'Fine.', content: { 'application/json': { schema } } } };
}

function get(operationId: string, schema: unknown, parameters: readonly unknown[] = []): unknown {
  return { get: { operationId, parameters, responses: returning(schema) } };
}

const idOf = (name: string, more: object = {}): object => ({ name, in: 'path', required: true, schema: { type: 'string', ...more } });

function documentWith(paths: Readonly<Record<string, unknown>>): ReturnType<typeof parseDocument> {
  return parseDocument({ openapi: '3.1.0', info: { title: 'A', version: '1' }, paths });
}

/** The paths that a read-only run requests from a server with these bodies. */
async function requestedPaths(
  paths: Readonly<Record<string, unknown>>,
  bodies: Readonly<Record<string, unknown>>,
  more: { readonly only?: ReadonlyMap<string, string | undefined> } = {},
): Promise<readonly string[]> {
  const { url, received } = await startServer(({ path }, response) =>
    bodies[path] === undefined ? sendJson(response, 404, {}) : sendJson(response, 200, bodies[path]),
  );
  await runContract({ document: documentWith(paths), target: url, ...more });
  return received.map(({ path, query }) => (query.size === 0 ? path : `${path}?${query.toString()}`));
}

describe('takes identifiers', () => {
  const list = { type: 'array', items: thing };

  test('from `id` of the items of a list', async () => {
    const paths = { '/vms': get('list', list), '/vms/{vmId}': get('read', thing, [idOf('vmId')]) };
    expect(await requestedPaths(paths, { '/vms': [{ id: 'a' }, { id: 'b' }], '/vms/a': { id: 'a' }, '/vms/b': { id: 'b' } })).toEqual(
      expect.arrayContaining(['/vms', '/vms/a', '/vms/b']),
    );
  });

  test('from a list of the same resources under another path', async () => {
    const paths = { '/machines/list': get('list', list), '/machine/{machine_id}/info': get('read', thing, [idOf('machine_id')]) };
    expect(await requestedPaths(paths, { '/machines/list': [{ id: 'a' }] })).toContain('/machine/a/info');
  });

  test('from a list of subresources, with the path of the list', async () => {
    const paths = {
      '/orgs': get('orgs', list),
      '/orgs/{org}/repos': get('repos', list, [idOf('org')]),
      '/orgs/{org}/repos/{repo}': get('repo', thing, [idOf('org'), idOf('repo')]),
    };
    const bodies = { '/orgs': [{ id: 'o1' }, { id: 'o2' }], '/orgs/o1/repos': [], '/orgs/o2/repos': [{ id: 'r7' }] };
    expect(await requestedPaths(paths, bodies)).toContain('/orgs/o2/repos/r7');
  });

  test('from an example of the document when no response has one', async () => {
    const paths = { '/vms/{vmId}': get('read', thing, [{ ...idOf('vmId'), example: 'vm-9' }]) };
    expect(await requestedPaths(paths, {})).toContain('/vms/vm-9');
  });

  test('from a list of allowed values', async () => {
    const paths = { '/reports/{kind}': get('report', thing, [idOf('kind', { enum: ['daily', 'weekly'] })]) };
    expect(await requestedPaths(paths, {})).toContain('/reports/daily');
  });

  test('from the command line, also for reads', async () => {
    const paths = { '/vms/{vmId}': get('getVm', thing, [idOf('vmId')]) };
    expect(await requestedPaths(paths, {}, { only: new Map([['getVm', 'vm-1']]) })).toContain('/vms/vm-1');
  });

  test('from later items when the first ones have no content', async () => {
    const paths = { '/vms': get('list', list), '/vms/{vmId}/disks': get('disks', list, [idOf('vmId')]) };
    const bodies = {
      '/vms': ['a', 'b', 'c', 'd'].map((id) => ({ id })),
      '/vms/a/disks': [],
      '/vms/b/disks': [],
      '/vms/c/disks': [{ id: '1' }],
    };
    const found = await requestedPaths(paths, bodies);
    expect(found.filter((path) => path.endsWith('/disks'))).toEqual(
      expect.arrayContaining(['/vms/a/disks', '/vms/b/disks', '/vms/c/disks']),
    );
    expect(found).not.toContain('/vms/d/disks');
  });
});

describe('takes required parameters', () => {
  test.each<[string, object, string]>([
    ['from their example', { example: 'x', schema: { type: 'string' } }, 'x'],
    ['from examples by name', { examples: { one: { value: 'y' } }, schema: { type: 'string' } }, 'y'],
    ['from an example of the schema', { schema: { type: 'string', examples: ['z'] } }, 'z'],
    ['from the default', { schema: { type: 'integer', default: 20 } }, '20'],
    ['from listed values', { schema: { enum: ['asc', 'desc'] } }, 'asc'],
    ['from the minimum', { schema: { type: 'integer', minimum: 5 } }, '5'],
    ['from the format', { schema: { type: 'string', format: 'date' } }, '2026-01-31'],
    ['from the pattern', { schema: { type: 'string', pattern: '^ord_[0-9]{8}$' } }, 'ord_00000000'],
    ['not from an invalid example', { example: 'no', schema: { type: 'integer', minimum: 7 } }, '7'],
  ])('%s', async (_, parameter, expected) => {
    const paths = { '/a': get('a', {}, [{ name: 'q', in: 'query', required: true, ...parameter }]) };
    expect(await requestedPaths(paths, { '/a': {} })).toContain(`/a?q=${expected}`);
  });
});

describe('lists before the run an operation without a supported', () => {
  test.each<[string, object, RegExp]>([
    ['credential', { security: [{ Mutual: [] }] }, /it needs Mutual; only API keys, bearer tokens, and user and password can be sent/],
    ['credential next to a key', { security: [{ Mutual: [], Key: [] }] }, /it needs Mutual and Key; only API keys/],
    [
      'body',
      { requestBody: { required: true, content: { 'application/zip': { schema: {} } } } },
      /it needs a body of the type application\/zip/,
    ],
    [
      'parameter',
      {
        parameters: [
          { name: 'q', in: 'query', required: true, schema: { type: 'string', pattern: '^(?=.*z)(?=.*[0-9])(?=.{20})[a-z0-9-]+$' } },
        ],
      },
      /it needs the query parameter q/,
    ],
  ])('%s', async (_, more, reason) => {
    const folder = await temporaryFolder();
    const file = join(folder, 'openapi.json');
    const paths = { '/good': get('good', {}), '/odd': { get: { operationId: 'odd', responses: returning({}), ...more } } };
    const schemes = { Mutual: { type: 'mutualTLS' }, Key: { type: 'apiKey', in: 'header', name: 'X-Key' } };
    await writeFile(file, JSON.stringify({ ...documentWith(paths), components: { securitySchemes: schemes } }));
    const { url } = await startServer((_request, response) => sendJson(response, 200, {}));
    const { output } = await command(['--target', url.href, '--document', file], { RESELLER_API_KEY: 'a-key-of-the-test' });
    expect(output).toMatch(/^1 operations? cannot be called:\n {2}odd: /);
    expect(output).toMatch(reason);
  });
});

describe('--only and --also', () => {
  async function service(): Promise<FakeService> {
    const started = await startFakeService(await loadDocument());
    onTestFinished(() => started.close());
    return started;
  }
  const environment = { RESELLER_API_KEY: FAKE_KEY };

  test('--also adds one purchase to a full run', async () => {
    const { url } = await service();
    const { output } = await command(['--target', url, '--mode', 'full', '--plan', '--also', 'createVm'], environment);
    expect(output).toMatch(/costs {4}PUT \/vm\/create cores=2/);
    expect(output).toContain(
      'deleteDedicatedServer: it changes what this run does not make; add it with --also deleteDedicatedServer=IDENTIFIER',
    );
    expect(output).toMatch(/registerDomain: it costs money; add it with --also registerDomain/);
  });

  test('--only restricts the run', async () => {
    const { url } = await service();
    const { output } = await command(['--target', url, '--mode', 'full', '--plan', '--only', 'createVm'], environment);
    expect(output).toMatch(/costs {4}PUT \/vm\/create cores=2/);
    expect(output).not.toMatch(/changes {2}DELETE \/dedicated/);
    expect(output).toContain('registerDomain: it is not listed in --only');
  });

  test('with both, --only restricts and --also adds', async () => {
    const { url } = await service();
    const { output } = await command(
      ['--target', url, '--mode', 'full', '--plan', '--only', 'listDomains', '--also', 'createVm'],
      environment,
    );
    expect(output).toMatch(/costs {4}PUT \/vm\/create cores=2/);
    expect(output).toContain('editDomainDns: it is not listed in --only');
  });
});

describe('recorded traffic', () => {
  const secured = parseDocument({
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    security: [{ Token: [] }],
    paths: {
      '/things': {
        get: { operationId: 'list', responses: { 200: { description: 'Fine.' } } },
        post: {
          operationId: 'make',
          requestBody: {
            content: { 'application/json': { schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } } },
          },
          responses: { 201: { description: 'Made.' } },
        },
      },
    },
    components: { securitySchemes: { Token: { type: 'http', scheme: 'bearer' } } },
  });

  function rawExchange(method: string, path: string, more: Partial<RawExchange> = {}): RawExchange {
    return {
      method,
      url: `https://api.example/v1${path}`,
      requestHeaders: { authorization: 'Bearer token-of-the-client', 'content-type': 'application/json' },
      requestBody: undefined,
      at: '2026-01-01T00:00:00.000Z',
      status: 200,
      responseHeaders: {},
      bytes: new Uint8Array(),
      milliseconds: 1,
      ...more,
    };
  }

  function findings(...all: readonly RawExchange[]): Report['findings'] {
    const recorder = createRecorder(secured);
    for (const one of [rawExchange('GET', '/things'), ...all]) recorder.take(one);
    return recorder.report(new URL('https://api.example')).findings;
  }

  test('has no findings when it conforms to the document', () => {
    expect(findings()).toEqual([]);
  });

  test('lists undescribed paths without their identifiers', () => {
    const found = findings(rawExchange('GET', '/secret-admin/users/8f14e45f-ea5d-4c3b-9d7e-1b2c3d4e5f60?token=abc'));
    expect(found).toMatchObject([
      {
        check: 'operation-described',
        verdict: 'discovered',
        message: 'GET /v1/secret-admin/users/{…} succeeds, but the document does not describe it',
      },
    ]);
    expect(JSON.stringify(found)).not.toContain('token=abc');
  });

  test('lists undescribed methods', () => {
    expect(findings(rawExchange('DELETE', '/things', { status: 405 }))).toMatchObject([
      { check: 'operation-described', message: 'a client requests DELETE /things, which the document does not describe' },
    ]);
  });

  test('ignores preflights and other origins', () => {
    expect(findings(rawExchange('OPTIONS', '/things'), { ...rawExchange('GET', '/x'), url: 'https://cdn.example/x' })).toEqual([]);
  });

  test('reports accepted requests without a credential', () => {
    expect(findings(rawExchange('GET', '/things', { requestHeaders: {} }))).toMatchObject([
      { check: 'key-required', verdict: 'violation', message: 'the service accepts a request without an API key' },
    ]);
    expect(findings(rawExchange('GET', '/things', { requestHeaders: {}, status: 401 }))).toMatchObject([{ check: 'status-documented' }]);
  });

  test('reports accepted invalid bodies', () => {
    const found = findings(rawExchange('POST', '/things', { requestBody: '{"name":7}', status: 201 }));
    expect(found.map(({ check, about, verdict }) => [check, about, verdict])).toEqual([
      ['form-refused', 'service', 'violation'],
      ['request-described', 'client', 'violation'],
    ]);
    expect(findings(rawExchange('POST', '/things', { requestBody: '{"name":"a"}', status: 201 }))).toEqual([]);
  });
});

describe('an object in the query', () => {
  const pageable = (more: object = {}): object => ({
    name: 'pageable',
    in: 'query',
    required: true,
    schema: { type: 'object', properties: { page: { type: 'integer', minimum: 0, example: 0 }, size: { type: 'integer', example: 5 } } },
    ...more,
  });
  async function sentFor(parameter: object, isSpread: boolean, given: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
    const { url, received } = await startServer(({ query }, response) => {
      // A parameter that is sent under its own name can be missing.
      const isMissing = query.size === 0 && !isSpread;
      sendJson(response, isMissing ? 400 : 200, isMissing ? {} : { id: 'a' });
    });
    const document = documentWith({ '/items': get('list', thing, [parameter]) });
    const { findings } = await runContract({ document, target: url, given: { values: given, headers: {} } });
    // Nothing is sent for an empty object, so the service cannot refuse its absence.
    expect(findings.filter(({ verdict }) => verdict === 'violation')).toEqual([]);
    return [...new Set(received.map(({ query }) => decodeURIComponent(query.toString())))];
  }

  test.each<[string, object, string]>([
    ['form, as springdoc writes it', {}, 'page=0&size=5'],
    ['form without explode', { explode: false }, 'pageable=page,0,size,5'],
    ['deepObject', { style: 'deepObject' }, 'pageable[page]=0&pageable[size]=5'],
  ])('is sent in the style %s', async (_, more, expected) => {
    expect(await sentFor(pageable(more), !('explode' in more))).toContain(expected);
  });

  test('is sent with the values that the user gives as JSON', async () => {
    expect(await sentFor(pageable(), true, { pageable: '{"page":3,"size":7}' })).toContain('page=3&size=7');
  });

  test.each([
    ['form', true, 'tags=a&tags=b'],
    ['form', false, 'tags=a,b'],
    ['spaceDelimited', false, 'tags=a+b'],
    ['pipeDelimited', false, 'tags=a|b'],
  ])('a list is sent in the style %s with explode %s', async (style, explode, expected) => {
    const tags = {
      name: 'tags',
      in: 'query',
      required: true,
      style,
      explode,
      schema: { type: 'array', items: { type: 'string' } },
      example: ['a', 'b'],
    };
    expect(await sentFor(tags, false)).toContain(expected);
  });

  test('is described in recorded traffic', async () => {
    const recorder = createRecorder(documentWith({ '/items': get('list', thing, [pageable()]) }));
    const entry = (query: string): RawExchange => ({
      method: 'GET',
      url: `http://target.example/items?${query}`,
      requestHeaders: {},
      requestBody: undefined,
      at: '2026-11-22T05:00:00.000Z',
      status: 200,
      responseHeaders: { 'content-type': 'application/json' },
      bytes: new TextEncoder().encode('{"id":"a"}'),
      milliseconds: 1,
      purpose: undefined,
    });
    for (const query of ['page=0&size=5', '']) recorder.take(entry(query));
    const judged = () => recorder.report(new URL('http://target.example')).findings.filter(({ verdict }) => verdict === 'violation');
    expect(judged()).toEqual([]);
    recorder.take(entry('colour=red'));
    expect(judged().map(({ message }) => message)).toEqual([
      'the client sends the query parameter colour, which the document does not describe',
    ]);
  });
});
