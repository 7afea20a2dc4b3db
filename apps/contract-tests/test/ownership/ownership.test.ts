/** A full run changes what it made itself, and what the user named. Every service here knows who made each resource. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseDocument } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';
import { planContract, runContract } from '@reseller/contract/engine';
import type { ContractOptions, Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { byDepth } from '../../../../.config/depth.ts';
import { memoryJournal } from '../memory-journal.ts';
import { sendJson, startServer } from '../raw-server.ts';
import type { RawServer } from '../raw-server.ts';
import { command } from '../run-command.ts';
import { temporaryFolder } from '../workspace.ts';
import { collectionsOf, SHARED_TOKEN, startSharedService } from './shared-service.ts';

const json = (schema: unknown) => ({ 'application/json': { schema } });

describe('a run next to another program', () => {
  test('touches nothing that it did not make, and leaves nothing, in a service with 30 collections below one path', async () => {
    const service = await startSharedService(collectionsOf(30));
    const told: string[] = [];
    const enough = byDepth({ usual: 1_000, deep: 10_000 });
    for (let seed = 1; service.received.length < enough; seed++) {
      const report = await runContract({
        document: service.document,
        target: service.url,
        apiKey: SHARED_TOKEN,
        mode: 'full',
        seed,
        journal: memoryJournal(),
        onProgress: service.otherProgram,
      });
      expect(report.unfinished).toEqual([]);
      told.push(...report.left);
    }
    expect(service.harm).toEqual([]);
    // The run leaves, and tells, only what has the identifier of something that another program had before, or what may have been found.
    for (const { collection, id } of service.remains()) {
      const isUnclear = collection.ids === 'reuse' || (collection.upserts && collection.pageSize !== undefined);
      expect([collection, isUnclear]).toEqual([collection, true]);
      expect(told).toContainEqual(
        expect.stringMatching(new RegExp(`^create-${collection.name} \\(id ${id}\\): .*/${collection.name}/${id}'(?: \\(\\d+ times\\))?$`)),
      );
    }
  });
});

const TAG = { type: 'object', required: ['id', 'name'], properties: { id: { type: 'integer' }, name: { type: 'string' } } };
const REFUSED = { 401: { description: 'No.' }, 404: { description: 'None.' }, 422: { description: 'Bad.' } };
const NUMBER = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
const NAME = { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1, examples: ['red'] } } };

describe('two collections below one path', () => {
  const document = parseDocument({
    openapi: '3.1.0',
    info: { title: 'Two collections', version: '1' },
    security: [{ bearer: [] }],
    paths: {
      '/v1/users': {
        get: {
          operationId: 'listUsers',
          responses: { 200: { description: 'All.', content: json({ type: 'array', items: TAG }) }, ...REFUSED },
        },
      },
      '/v1/users/{id}': {
        parameters: [NUMBER],
        delete: { operationId: 'deleteUser', responses: { 204: { description: 'Gone.' }, ...REFUSED } },
      },
      '/v1/tags': {
        get: {
          operationId: 'listTags',
          responses: { 200: { description: 'All.', content: json({ type: 'array', items: TAG }) }, ...REFUSED },
        },
        post: {
          operationId: 'createTag',
          requestBody: { required: true, content: json(NAME) },
          responses: { 201: { description: 'Made.', content: json(TAG) }, ...REFUSED },
        },
      },
      '/v1/tags/{id}': {
        parameters: [NUMBER],
        delete: { operationId: 'deleteTag', responses: { 204: { description: 'Gone.' }, ...REFUSED } },
      },
      '/v1/sessions': { delete: { operationId: 'deleteAllSessions', responses: { 204: { description: 'Gone.' }, ...REFUSED } } },
      '/v1/users/send-invoices': { post: { operationId: 'sendInvoices', responses: { 202: { description: 'Sent.' }, ...REFUSED } } },
    },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  });

  async function start(): Promise<RawServer & { readonly harm: readonly string[]; readonly tags: ReadonlyMap<number, unknown> }> {
    const users = new Map([1, 2, 3, 4, 5].map((id) => [id, { id, name: `Person ${id}` }]));
    const tags = new Map([[1, { id: 1, name: 'blue' }]]);
    const harm: string[] = [];
    let next = 2;
    const server = await startServer(({ method, path, headers, body }, response) => {
      const end = (status: number): void => void response.writeHead(status).end();
      if (headers.authorization !== 'Bearer token-of-the-case') return end(401);
      const id = Number(path.split('/')[3]);
      if (method === 'GET' && path === '/v1/users') return sendJson(response, 200, [...users.values()]);
      if (method === 'GET' && path === '/v1/tags') return sendJson(response, 200, [...tags.values()]);
      if (method === 'POST' && path === '/v1/tags') {
        const { name } = body === '' ? { name: undefined } : JSON.parse(body);
        if (typeof name !== 'string' || name === '') return end(422);
        tags.set(next, { id: next, name });
        return sendJson(response, 201, { id: next++, name });
      }
      if (method === 'DELETE' && path.startsWith('/v1/tags/')) {
        if (id === 1) harm.push('DELETE /v1/tags/1');
        return end(tags.delete(id) ? 204 : 404);
      }
      if (method === 'DELETE' || path.endsWith('/send-invoices')) {
        harm.push(`${method} ${path}`);
        return end(method === 'GET' ? 405 : 204);
      }
      return end(405);
    });
    return { ...server, harm, tags };
  }

  test('are not mixed up, and neither a removal of everything nor an action runs without a name', async () => {
    const { url, harm, tags } = await start();
    const report = await runContract({ document, target: url, apiKey: 'token-of-the-case', mode: 'full', journal: memoryJournal() });
    expect(harm.filter((line) => !line.startsWith('GET'))).toEqual([]);
    expect([...tags.keys()]).toEqual([1]);
    expect(report.coverage.filter(({ verified }) => !verified).map(({ operation }) => operation)).toEqual([
      'deleteUser',
      'deleteAllSessions',
      'sendInvoices',
    ]);
  });
});

describe('the plan of a full run', () => {
  const ok = { 204: { description: 'Done.' } };
  const text = (name: string, more: object = {}) => ({ name, in: 'path', required: true, schema: { type: 'string' }, ...more });
  const document = parseDocument({
    openapi: '3.1.0',
    info: { title: 'Zones below a server', version: '1' },
    paths: {
      '/servers/{server_id}/zones': {
        parameters: [text('server_id', { example: 'localhost' })],
        post: {
          operationId: 'createZone',
          requestBody: {
            required: true,
            content: json({ type: 'object', required: ['name'], properties: { name: { type: 'string', examples: ['example.org.'] } } }),
          },
          responses: { 201: { description: 'Made.', content: json({ type: 'object', properties: { id: { type: 'string' } } }) } },
        },
      },
      '/servers/{server_id}/zones/{zone_id}': {
        parameters: [text('server_id'), text('zone_id')],
        delete: { operationId: 'deleteZone', responses: ok },
      },
      // The document reads single invitations, but what they cause stays when the zone is removed.
      '/servers/{server_id}/zones/{zone_id}/invitations': {
        parameters: [text('server_id'), text('zone_id')],
        post: { operationId: 'createInvitation', responses: { 201: { description: 'Sent.' } } },
      },
      '/servers/{server_id}/zones/{zone_id}/invitations/{invitation_id}': {
        parameters: [text('server_id'), text('zone_id'), text('invitation_id')],
        get: { operationId: 'getInvitation', responses: { 200: { description: 'One.' } } },
      },
      // One request can make several boxes, of which the run would recognise none.
      '/boxes': {
        post: {
          operationId: 'createBoxes',
          responses: {
            202: {
              description: 'One box, or several.',
              content: {
                'application/json': {
                  schema: {
                    oneOf: [
                      { type: 'object', properties: { box: { type: 'object' } } },
                      { type: 'object', properties: { boxes: { type: 'array', items: { type: 'object' } } } },
                    ],
                  },
                },
              },
            },
          },
        },
      },
      '/boxes/{box_id}': {
        parameters: [text('box_id')],
        get: { operationId: 'getBox', responses: { 200: { description: 'One.' } } },
        delete: { operationId: 'deleteBox', responses: ok },
      },
      '/registry': { delete: { operationId: 'deleteRegistry', responses: ok } },
      '/projects/default': {
        patch: {
          operationId: 'patchDefaultProject',
          requestBody: { content: json({ type: 'object', properties: { name: { type: 'string', examples: ['my-web-api'] } } }) },
          responses: { 200: { description: 'Changed.' } },
        },
      },
      '/projects/{id}': { parameters: [text('id')], delete: { operationId: 'deleteProject', responses: ok } },
    },
  });
  const options: ContractOptions = { document, target: new URL('http://127.0.0.1:9'), mode: 'full', journal: memoryJournal() };

  test('has creations below a path parameter, and names what undoes them', async () => {
    const { steps, allowed, withheld } = await planContract(options);
    const changing = steps.filter(({ effect, purpose }) => effect !== 'reads' && purpose !== 'method');
    expect(new Set(changing.map(({ operation }) => operation.id))).toEqual(new Set(['createZone', 'deleteZone']));
    expect(Object.fromEntries(allowed)).toEqual({
      createZone: 'deleteZone removes what it makes',
      deleteZone: 'it is sent only for what createZone made',
    });
    for (const id of ['deleteRegistry', 'patchDefaultProject', 'deleteProject'])
      expect(withheld.get(id)).toMatch(new RegExp(`^it changes what this run does not make; add it with --also ${id}`));
    expect(withheld.get('createBoxes')).toBe('it can make several resources at once; add it with --also createBoxes');
    expect(withheld.get('createInvitation')).toBe('the document has no operation that undoes it; add it with --also createInvitation');
  });

  test('has neither an excluded operation nor what it alone could undo', async () => {
    const { steps, withheld } = await planContract({ ...options, except: new Set(['deleteZone']) });
    expect(steps.filter(({ effect }) => effect !== 'reads')).toEqual([]);
    expect(withheld.get('deleteZone')).toBe('it is excluded with --except');
    expect(withheld.get('createZone')).toContain('no operation that undoes it');
  });
});

interface PutService extends RawServer {
  readonly things: ReadonlyMap<string, unknown>;
  /** The successful changes, from the log of the service. */
  readonly changes: readonly string[];
}

interface PutCase {
  readonly base: '' | '/v1';
  readonly removes: 'no' | 'after PUT' | 'before PUT';
  readonly isBillable: boolean;
  /** Whether a POST creates too. */
  readonly posts: boolean;
  readonly resurrects: boolean;
}

function putDocument({ base, removes, isBillable, posts }: PutCase): OpenApiDocument {
  const item = { type: 'object', required: ['id', 'name'], properties: { id: { type: 'string' }, name: { type: 'string' } } };
  const one = { description: 'One.', content: json(item) };
  const remove = { delete: { operationId: 'deleteThing', responses: { 204: { description: 'Gone.' }, ...REFUSED } } };
  const body = { required: true, content: json(NAME) };
  return parseDocument({
    openapi: '3.1.0',
    info: { title: 'PUT creates', version: '1' },
    security: [{ bearer: [] }],
    paths: {
      [`${base}/things`]: {
        get: {
          operationId: 'listThings',
          responses: { 200: { description: 'All.', content: json({ type: 'array', items: item }) }, ...REFUSED },
        },
        ...(posts ? { post: { operationId: 'createThing', requestBody: body, responses: { 201: one, ...REFUSED } } } : {}),
      },
      [`${base}/things/{id}`]: {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        get: { operationId: 'getThing', responses: { 200: one, ...REFUSED } },
        ...(removes === 'before PUT' ? remove : {}),
        put: {
          operationId: 'putThing',
          ...(isBillable ? { 'x-billable': true } : {}),
          requestBody: body,
          responses: { 200: one, 201: one, ...REFUSED },
        },
        ...(removes === 'after PUT' ? remove : {}),
      },
    },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  });
}

async function startPutService({ base, removes, posts, resurrects }: PutCase): Promise<PutService> {
  const things = new Map<string, unknown>([['foreign', { id: 'foreign', name: 'blue' }]]);
  const changes: string[] = [];
  let last = 0;
  const server = await startServer(({ method, path, headers, body }, response) => {
    const end = (status: number): void => void response.writeHead(status).end();
    if (headers.authorization !== 'Bearer token-of-the-case') return end(401);
    const [name, segment, more] = path.slice(base.length + 1).split('/');
    if (!path.startsWith(`${base}/`) || name !== 'things' || more !== undefined) return end(404);
    const read = (): string | undefined => {
      try {
        const value: unknown = Object(JSON.parse(body)).name;
        return typeof value === 'string' && value !== '' ? value : undefined;
      } catch {
        return undefined;
      }
    };
    if (segment === undefined) {
      if (method === 'GET') return sendJson(response, 200, [...things.values()]);
      if (method !== 'POST' || !posts) return end(405);
      if (read() === undefined) return end(422);
      const id = `t-${++last}`;
      things.set(id, { id, name: read() });
      changes.push(`POST ${id}`);
      return sendJson(response, 201, things.get(id));
    }
    const id = decodeURIComponent(segment);
    if (method === 'GET') return things.has(id) ? sendJson(response, 200, things.get(id)) : end(404);
    if (method === 'PUT') {
      if (read() === undefined) return end(422);
      const status = things.has(id) ? 200 : 201;
      things.set(id, { id, name: read() });
      changes.push(`PUT ${id}`);
      return sendJson(response, status, things.get(id));
    }
    if (method !== 'DELETE' || removes === 'no') return end(405);
    if (!things.has(id)) return end(404);
    changes.push(`DELETE ${id}`);
    if (!resurrects) things.delete(id);
    return end(204);
  });
  return { ...server, things, changes };
}

describe('a service whose PUT creates', () => {
  const usual: PutCase = { base: '', removes: 'after PUT', isBillable: false, posts: false, resurrects: false };
  const run = (document: OpenApiDocument, service: PutService, more: Partial<ContractOptions> = {}): Promise<Report> =>
    runContract({ document, target: service.url, apiKey: 'token-of-the-case', mode: 'full', journal: memoryJournal(), ...more });
  const also = new Map([['putThing', undefined]]);
  const cases = (['', '/v1'] as const).flatMap((base) =>
    (['no', 'after PUT', 'before PUT'] as const).flatMap((removes) =>
      [false, true].flatMap((isBillable) => [false, true].map((posts): PutCase => ({ ...usual, base, removes, isBillable, posts }))),
    ),
  );

  test.each(cases)('is not changed by a run that does not name the PUT, except for what the run makes itself: %j', async (one) => {
    const service = await startPutService(one);
    const report = await run(putDocument(one), service);
    expect(service.changes.filter((line) => !/ t-\d+$/.test(line))).toEqual([]);
    if (!one.posts || one.removes === 'no' || one.isBillable) expect(service.changes.filter((line) => line.startsWith('PUT'))).toEqual([]);
    expect([...service.things.keys()]).toEqual(['foreign']);
    expect([report.left, report.findings.filter(({ verdict }) => verdict !== 'unverified')]).toEqual([[], []]);
  });

  test.each(cases)('has no findings in a run that names it, and keeps only what the run tells: %j', async (one) => {
    const service = await startPutService(one);
    const report = await run(putDocument(one), service, { also, budget: { amount: 0n, unknown: 20 } });
    expect(service.changes.filter((line) => line.startsWith('PUT')).length).toBeGreaterThan(0);
    expect(service.changes.filter((line) => line.endsWith(' foreign'))).toEqual([]);
    const remains = [...service.things.keys()].filter((id) => id !== 'foreign');
    if (one.removes !== 'no') expect(remains).toEqual([]);
    for (const id of remains) expect(report.left.filter((line) => line.includes(id))).not.toEqual([]);
    expect(report.left.length).toBe(remains.length);
    expect(report.findings.filter(({ verdict }) => verdict !== 'unverified')).toEqual([]);
  });

  test('receives no PUT that costs money without a budget', async () => {
    const one = { ...usual, isBillable: true };
    const service = await startPutService(one);
    await run(putDocument(one), service, { also });
    expect(service.changes).toEqual([]);
    const bought = await startPutService(one);
    const report = await run(putDocument(one), bought, { also, budget: { amount: 0n, unknown: 1 } });
    expect(bought.changes.filter((line) => line.startsWith('PUT'))).toHaveLength(1);
    expect(report.spent.unknown).toBe(1);
  });

  test.each([
    { ...usual, posts: true, resurrects: true },
    { ...usual, resurrects: true },
    { ...usual, base: '/v1' as const, removes: 'before PUT' as const, posts: true, resurrects: true },
  ])('has exactly one finding when removed things come back: %j', async (one) => {
    const service = await startPutService(one);
    const { findings } = await run(putDocument(one), service, { also });
    expect(findings.filter(({ verdict }) => verdict !== 'unverified').map(({ check, verdict }) => [check, verdict])).toEqual([
      ['removed-stays-removed', 'violation'],
    ]);
  });
});

describe('the command', () => {
  test('names several resources, also with several path parameters, and says what is missing', async () => {
    const file = join(await temporaryFolder(), 'lines.json');
    const invoice = { name: 'invoice', in: 'path', required: true, schema: { type: 'string' } };
    const line = { ...invoice, name: 'line' };
    const document = {
      openapi: '3.1.0',
      info: { title: 'Lines', version: '1' },
      paths: {
        '/invoices/{invoice}/lines/{line}': {
          put: { operationId: 'putLine', parameters: [invoice, line], responses: { 204: { description: 'Kept.' } } },
        },
      },
    };
    await writeFile(file, JSON.stringify(document));
    const plan = async (...more: readonly string[]) =>
      (await command(['--target', 'http://127.0.0.1:9', '--document', file, '--mode', 'full', '--plan', ...more], {})).output;
    expect(await plan('--also', 'putLine=in_1/2', 'putLine=in_1/3')).toMatch(
      /PUT \/invoices\/in_1\/lines\/2 {2}\(call\)\n.*PUT \/invoices\/in_1\/lines\/3 {2}\(call\)/,
    );
    expect(await plan('--also', 'putLine', '--value', 'invoice=in_1', '--value', 'line=2')).toContain('PUT /invoices/in_1/lines/2  (call)');
    expect(await plan('--also', 'putLine=in_1')).toBe(
      'putLine=in_1 has no effect: putLine has 2 path parameters. Give all of them: putLine=INVOICE/LINE.',
    );
    expect(await plan('--also', 'putLine=in_1/2', '--except', 'putLine')).toContain('putLine: it is excluded with --except');
    expect(await plan('--also', 'putLine')).toMatch(/\(putLine, up to 1\): you named it$/m);
    const announced = await command(
      ['--target', 'http://127.0.0.1:9', '--document', file, '--mode', 'full', '--also', 'putLine=in_1/2'],
      {},
    );
    expect(announced.output).toContain(
      'requests that change something, whose costs are unknown, because the document marks none with x-billable',
    );
    expect(announced.output).toContain('PUT /invoices/{invoice}/lines/{line}  (putLine, up to 2): you named it with in_1/2');
  });
});

describe('a created resource is recognised', () => {
  const text = { type: 'string' };
  async function removed(parameter: string, made: object, listed: unknown): Promise<readonly string[]> {
    const id = { name: parameter, in: 'path', required: true, schema: text };
    const document = parseDocument({
      openapi: '3.1.0',
      info: { title: 'Flags', version: '1' },
      paths: {
        '/flags': {
          get: { operationId: 'listFlags', responses: { 200: { description: 'All.' } } },
          post: { operationId: 'createFlag', responses: { 201: { description: 'Made.', content: json({ type: 'object' }) } } },
        },
        [`/flags/{${parameter}}`]: {
          parameters: [id],
          delete: { operationId: 'removeFlag', responses: { 204: { description: 'Gone.' } } },
        },
      },
    });
    const { url, received } = await startServer(({ method }, response) =>
      method === 'DELETE'
        ? void response.writeHead(204).end()
        : sendJson(response, method === 'POST' ? 201 : 200, method === 'POST' ? made : listed),
    );
    await runContract({ document, target: url, mode: 'full', journal: memoryJournal() });
    return [...new Set(received.filter(({ method }) => method === 'DELETE').map(({ path }) => path))];
  }

  test.each<[string, string, object, unknown, readonly string[]]>([
    ['by the last word of its parameter', 'flagName', { name: 'mine' }, [], ['/flags/mine']],
    ['although another list of the response has its number', 'id', { id: 3 }, { flags: [{ id: 1 }], roles: [{ id: 3 }] }, ['/flags/3']],
    ['in an envelope', 'id', { data: { id: 3 } }, [], ['/flags/3']],
    ['next to a resource of another collection', 'id', { owner: { id: 2 }, id: 3 }, [], ['/flags/3']],
  ])('%s', async (_, parameter, made, listed, expected) => {
    expect(await removed(parameter, made, listed)).toEqual(expected);
  });

  test.each<[string, object, unknown]>([
    ['that was in the only list', { id: 3 }, { flags: [{ id: 3 }] }],
    ['that is another resource in the response', { owner: { id: 3 } }, []],
  ])('but not one %s', async (_, made, listed) => {
    expect(await removed('id', made, listed)).toEqual([]);
  });
});
