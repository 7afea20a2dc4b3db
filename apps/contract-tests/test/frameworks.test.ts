/** What common frameworks serve: media ranges, discriminators, errors in plain text, entity tags. */
import { parseDocument } from '@reseller/contract';
import { runContract } from '@reseller/contract/engine';
import type { ContractOptions, Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { memoryJournal } from './memory-journal.ts';
import { sendJson, startServer } from './raw-server.ts';
import type { ReceivedRequest } from './raw-server.ts';

const text = { type: 'string' };

function documentOf(content: object, components: object = {}): unknown {
  const get = { operationId: 'a', responses: { 200: { description: 'A.', content } } };
  return { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: { '/a': { get } }, components };
}

async function judge(document: unknown, body: string, type = 'application/json', more: Partial<ContractOptions> = {}): Promise<Report> {
  const { url } = await startServer((_, response) => void response.writeHead(200, { 'content-type': type }).end(body));
  return runContract({ document: parseDocument(document), target: url, ...more });
}

function foundIn({ findings }: Report): readonly string[] {
  return findings.filter(({ verdict }) => verdict !== 'unverified').map(({ check, verdict }) => `${verdict} ${check}`);
}

describe('a body under a range of media types', () => {
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };
  test.each([
    ['*/*', '{"id":7}', 'application/json', []],
    ['*/*', '{"id":"7"}', 'application/json', ['violation property-type']],
    ['*/*', '{}', 'application/problem+json', ['violation property-required']],
    ['application/*', '{"id":"7"}', 'application/json', ['violation property-type']],
    ['*/*', '<p>Hello</p>', 'text/html', ['violation body-readable']],
    ['*/*', '', 'application/json', ['violation body-readable']],
  ])('%s: %s as %s', async (range, body, type, expected) => {
    expect(foundIn(await judge(documentOf({ [range]: { schema } }), body, type))).toEqual(expected);
  });

  test('next to a JSON type is compared with that type, whatever content type the body has', async () => {
    const content = { 'application/json': { schema }, '*/*': { schema: text } };
    expect(foundIn(await judge(documentOf(content), '{"id":"7"}', 'text/plain'))).toContain('violation property-type');
  });

  test('that may be a text is not an error', async () => {
    expect(foundIn(await judge(documentOf({ '*/*': { schema: text } }), 'Hello', 'text/plain'))).toEqual([]);
  });
});

describe('a discriminator', () => {
  const pet = (more: object) => ({ type: 'object', required: ['kind'], properties: { kind: text, ...more } });
  const components = { schemas: { Cat: pet({ purr: { type: 'boolean' } }), Dog: pet({ bark: { type: 'integer' } }) } };
  const references = [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }];
  const mapping = { cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' };
  const content = { 'application/json': { schema: { anyOf: references, discriminator: { propertyName: 'kind', mapping } } } };
  test.each([
    ['{"kind":"dog","bark":3}', []],
    ['{"kind":"Dog","bark":3}', []],
    ['{"kind":"bird"}', ['violation value-allowed']],
    // The other alternative fits, because it does not describe the property.
    ['{"kind":"dog","bark":"loud"}', ['violation property-type']],
    ['{"kind":"cat","bark":"loud"}', []],
  ])('%s', async (body, expected) => {
    expect(foundIn(await judge(documentOf(content, components), body))).toEqual(expected);
  });
});

test('sends one request for any media type to each operation, and finds errors in plain text', async () => {
  const id = { name: 'id', in: 'path', required: true, schema: text };
  const error = { description: 'None.', content: { 'application/json': { schema: { type: 'object' } } } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: { '/a/{id}': { parameters: [id], get: { operationId: 'a', responses: { 200: { description: 'A.' }, 404: error } } } },
  };
  const { url, received } = await startServer(({ headers }, response) => {
    if (headers.accept === 'application/json') return sendJson(response, 404, {});
    response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found');
  });
  const report = await runContract({ document: parseDocument(document), target: url });
  expect(received.filter(({ headers }) => headers.accept === '*/*').length).toBeGreaterThan(0);
  expect(foundIn(report)).toContain('discovered content-type-documented');
});

test('does not take the pages of a web application, which a service serves for every unknown path, for operations', async () => {
  const operation = { operationId: 'a', responses: { 200: { description: 'A.', content: { 'application/json': { schema: {} } } } } };
  const document = { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: { '/a': { post: operation } } };
  const serve = async (type: string) => judge(document, '<p>Hello</p>', type);
  expect(foundIn(await serve('text/html'))).toEqual([]);
  expect(foundIn(await serve('text/plain'))).toEqual(['discovered method-refused']);
});

test('sends a NUL character in a path in a full run, and reports a service that fails because of it', async () => {
  const id = { name: 'id', in: 'path', required: true, schema: text };
  const responses = { 200: { description: 'A.' }, 404: { description: 'None.' } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: { '/a/{id}': { parameters: [id], get: { operationId: 'a', responses } } },
  };
  const { url } = await startServer(({ path }, response) => sendJson(response, path.includes('%00') ? 500 : 404, {}));
  const report = await runContract({ document: parseDocument(document), target: url, mode: 'full', journal: memoryJournal() });
  expect(report.findings.filter(({ check }) => check === 'server-error').map(({ observed }) => observed)).toEqual([
    '500 for the path parameter id with a NUL character',
  ]);
});

test('does not conclude from a 404 for everyone that a service checks no keys', async () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    security: [{ Key: [] }],
    paths: {
      '/a': { get: { operationId: 'a', responses: { 200: { description: 'A.' }, 404: { description: 'None.' } } } },
      '/b': { get: { operationId: 'b', responses: { 200: { description: 'B.' }, 404: { description: 'None.' } } } },
    },
    components: { securitySchemes: { Key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  };
  // B exists only for those with a key, and says 404 to others.
  const reply = ({ path, headers }: ReceivedRequest): number => (path === '/b' && headers['x-key'] === 'the-key-of-the-test' ? 200 : 404);
  const { url } = await startServer((request, response) => sendJson(response, reply(request), {}));
  const { findings } = await runContract({ document: parseDocument(document), target: url, apiKey: 'the-key-of-the-test' });
  expect(
    findings.filter(({ check }) => check.startsWith('key-')).flatMap(({ touches }) => touches.map(({ operation }) => operation)),
  ).toEqual(['b', 'b']);
});

describe('a body of the type application/*+json', () => {
  test('is sent with a concrete type', async () => {
    const schema = { type: 'object', properties: { name: { ...text, examples: ['red'] } } };
    const post = {
      operationId: 'a',
      requestBody: { content: { 'application/*+json': { schema } } },
      responses: { 200: { description: 'A.' } },
    };
    const document = { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: { '/a': { post } } };
    const { url, received } = await startServer((_, response) => sendJson(response, 200, {}));
    await runContract({
      document: parseDocument(document),
      target: url,
      mode: 'full',
      also: new Map([['a', undefined]]),
      journal: memoryJournal(),
    });
    const types = new Set(received.filter(({ body }) => body !== '').map(({ headers }) => headers['content-type']));
    expect([...types]).toEqual(['application/json']);
  });
});

describe('a stale If-Match', () => {
  const id = { name: 'id', in: 'path', required: true, schema: text };
  const tag = { name: 'If-Match', in: 'header', required: true, schema: { type: 'string', pattern: '^"[0-9a-f]{8}"$' } };
  const body = {
    required: true,
    content: {
      'application/json': { schema: { type: 'object', required: ['name'], properties: { name: { ...text, examples: ['red'] } } } },
    },
  };
  const responses = Object.fromEntries([200, 201, 204, 400, 404, 405, 412, 422].map((status) => [status, { description: 'A.' }]));
  const document = parseDocument({
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: {
      '/a': {
        post: {
          operationId: 'create',
          requestBody: body,
          responses: {
            ...responses,
            201: { description: 'A.', content: { 'application/json': { schema: { type: 'object', properties: { id: text } } } } },
          },
        },
      },
      '/a/{id}': {
        parameters: [id],
        get: { operationId: 'read', responses },
        patch: { operationId: 'change', parameters: [tag], requestBody: body, responses },
        delete: { operationId: 'remove', responses },
      },
    },
  });

  async function sentTags(
    accepts: 'only the current tag' | 'every tag of the right form',
  ): Promise<{ readonly report: Report; readonly tags: readonly string[] }> {
    let version = 0x1000_0000;
    let last = 0;
    const items = new Map<string, string>();
    const tags: string[] = [];
    const next = () => `"${(version++).toString(16)}"`;
    const { url } = await startServer(({ method, path, headers, body: sent }, response) => {
      const key = path.split('/')[2];
      const end = (status: number, value: unknown, etag?: string) => sendJson(response, status, value, etag === undefined ? {} : { etag });
      const isNamed = /"name":"/.test(sent);
      if (key === undefined) {
        if (method !== 'POST') return end(405, {});
        if (!isNamed) return end(422, {});
        const made = `item-${++last}-0123456789abcdef`;
        items.set(made, next());
        return end(201, { id: made });
      }
      const etag = items.get(key);
      if (etag === undefined) return end(404, {});
      if (method === 'GET') return end(200, {}, etag);
      if (method === 'DELETE') return void (items.delete(key) && end(204, ''));
      if (method !== 'PATCH') return end(405, {});
      const given = headers['if-match'] ?? '';
      tags.push(given);
      if (!/^"[0-9a-f]{8}"$/.test(given)) return end(400, {});
      if (accepts === 'only the current tag' && given !== etag) return end(412, {});
      if (!isNamed) return end(422, {});
      items.set(key, next());
      return end(200, {}, items.get(key));
    });
    return { report: await runContract({ document, target: url, mode: 'full', journal: memoryJournal() }), tags };
  }

  test('has the form that the document requires, so that a service which ignores it is found', async () => {
    const { report, tags } = await sentTags('every tag of the right form');
    expect(tags.filter((one) => one !== '' && !/^"[0-9a-f]{8}"$/.test(one))).toEqual([]);
    expect(foundIn(report)).toEqual(['violation precondition-kept']);
  });

  test('is refused by the right service, which has no finding', async () => {
    expect(foundIn((await sentTags('only the current tag')).report)).toEqual([]);
  });
});
