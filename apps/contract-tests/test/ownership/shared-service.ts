/** A service with many collections that another program uses at the same time. It knows who made each resource. */
import { randomUUID } from 'node:crypto';

import { parseDocument } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';

import { sendJson, startServer } from '../raw-server.ts';
import type { RawServer, ReceivedRequest } from '../raw-server.ts';

export const SHARED_TOKEN = 'token-of-the-shared-account';
const BASE = '/api/v1';

/** How a collection gives identifiers, and what else it does. */
export interface Collection {
  readonly name: string;
  /** `count`: 1, 2, 3, ... in each collection. `reuse`: the lowest free number. `uuid`: random. `name`: the name of the resource. */
  readonly ids: 'count' | 'reuse' | 'uuid' | 'name';
  /** Whether PUT of a missing item creates it. */
  readonly putCreates: boolean;
  /** Whether POST with a known name returns the existing resource with 200. */
  readonly upserts: boolean;
  /** Whether responses name their owner, a resource of another collection, before their own identifier. */
  readonly namesOwner: boolean;
  readonly pageSize: number | undefined;
}

interface Resource {
  readonly id: string;
  readonly name: unknown;
  readonly isForeign: boolean;
}

export interface SharedService extends RawServer {
  readonly document: OpenApiDocument;
  /** Each change of something that the run did not make, and each change of the whole account. */
  readonly harm: readonly string[];
  /** The resources that the run made and that still exist. */
  readonly remains: () => readonly { readonly collection: Collection; readonly id: string }[];
  /** Makes, changes and removes resources of the other program. */
  readonly otherProgram: () => void;
}

const REFUSALS = Object.fromEntries([400, 401, 404, 405, 422].map((status) => [status, { description: 'Refused.' }]));
const json = (schema: unknown) => ({ 'application/json': { schema } });
const ID = { type: ['string', 'integer'] };
const ITEM = { type: 'object', required: ['id', 'name'], properties: { id: ID, name: { type: 'string' }, owner: { type: 'object' } } };
const BODY = {
  required: true,
  content: json({ type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1, examples: ['red'] } } }),
};

export function collectionsOf(count: number): readonly Collection[] {
  const ids = ['count', 'reuse', 'uuid', 'name'] as const;
  return Array.from({ length: count }, (_, index) => ({
    name: `set${index}`,
    ids: ids[index % 4] ?? 'count',
    putCreates: index % 3 === 0,
    upserts: index % 5 === 0,
    namesOwner: index % 2 === 0,
    pageSize: index % 7 === 6 ? 2 : undefined,
  }));
}

function documentOf(collections: readonly Collection[]): OpenApiDocument {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
  const paths = collections.flatMap(({ name, putCreates, upserts, pageSize }): readonly (readonly [string, unknown])[] => [
    [
      `${BASE}/${name}`,
      {
        get: {
          operationId: `list-${name}`,
          ...(pageSize === undefined ? {} : { parameters: [{ name: 'page', in: 'query', schema: { type: 'integer' } }] }),
          responses: { 200: { description: 'All.', content: json({ type: 'array', items: ITEM }) }, ...REFUSALS },
        },
        post: {
          operationId: `create-${name}`,
          requestBody: BODY,
          responses: { [upserts ? 200 : 201]: { description: 'Made.', content: json(ITEM) }, ...REFUSALS },
        },
        delete: {
          operationId: `remove-all-${name}`,
          parameters: [{ name: 'tag', in: 'query', required: true, schema: { type: 'integer' }, example: 7 }],
          responses: { 204: { description: 'Gone.' }, ...REFUSALS },
        },
      },
    ],
    [
      `${BASE}/${name}/{id}`,
      {
        parameters: [id],
        delete: { operationId: `remove-${name}`, responses: { 204: { description: 'Gone.' }, ...REFUSALS } },
        put: {
          operationId: `put-${name}`,
          requestBody: BODY,
          responses: {
            200: { description: 'Replaced.', content: json(ITEM) },
            ...(putCreates ? { 201: { description: 'Made.', content: json(ITEM) } } : {}),
            ...REFUSALS,
          },
        },
        get: { operationId: `get-${name}`, responses: { 200: { description: 'One.', content: json(ITEM) }, ...REFUSALS } },
      },
    ],
    [`${BASE}/${name}/send-all`, { post: { operationId: `send-all-${name}`, responses: { 202: { description: 'Sent.' }, ...REFUSALS } } }],
    [
      `${BASE}/${name}/{id}/archive`,
      { parameters: [id], post: { operationId: `archive-${name}`, responses: { 200: { description: 'Done.' }, ...REFUSALS } } },
    ],
    [
      `${BASE}/${name}/{id}/parts/{part}`,
      {
        parameters: [id, { ...id, name: 'part' }],
        delete: { operationId: `remove-part-${name}`, responses: { 204: { description: 'Gone.' }, ...REFUSALS } },
      },
    ],
  ]);
  return parseDocument({
    openapi: '3.1.0',
    info: { title: 'Shared', version: '1' },
    security: [{ Token: [] }],
    paths: {
      ...Object.fromEntries(paths),
      [`${BASE}/settings`]: {
        patch: { operationId: 'patchSettings', requestBody: BODY, responses: { 200: { description: 'Done.' }, ...REFUSALS } },
        delete: { operationId: 'resetSettings', responses: { 204: { description: 'Done.' }, ...REFUSALS } },
      },
    },
    components: { securitySchemes: { Token: { type: 'http', scheme: 'bearer' } } },
  });
}

export async function startSharedService(collections: readonly Collection[]): Promise<SharedService> {
  const sets = new Map(collections.map(({ name }) => [name, new Map<string, Resource>()]));
  const counts = new Map<string, number>();
  const harm: string[] = [];

  function add(collection: Collection, name: unknown, isForeign: boolean, given?: string): Resource {
    const set = sets.get(collection.name) ?? new Map<string, Resource>();
    const count = (counts.get(collection.name) ?? 0) + 1;
    counts.set(collection.name, count);
    let free = 1;
    while (set.has(String(free))) free++;
    const made = { count: String(count), reuse: String(free), uuid: randomUUID(), name: `${String(name)}-${count}` }[collection.ids];
    const resource = { id: given ?? made, name, isForeign };
    set.set(resource.id, resource);
    return resource;
  }

  function shown({ namesOwner }: Collection, { id, name }: Resource): unknown {
    // The owner has the identifier of a foreign resource in many collections.
    return namesOwner ? { owner: { id: '1', name: 'Person' }, id, name } : { id, name };
  }

  for (const collection of collections) for (const name of ['red', 'blue', 'green']) add(collection, name, true);

  function touch({ method, path }: ReceivedRequest, resource: Resource): void {
    if (resource.isForeign) harm.push(`${method} ${path}`);
  }

  const server = await startServer((request, response) => {
    const { method, path, headers, body, query } = request;
    const refuse = (status: number): void => void response.writeHead(status).end();
    if (headers.authorization !== `Bearer ${SHARED_TOKEN}`) return refuse(401);
    const [, , , area = '', id, action] = path.split('/');
    if (area === 'settings') {
      if (method !== 'PATCH' && method !== 'DELETE') return refuse(405);
      harm.push(`${method} ${path}`);
      return refuse(method === 'PATCH' ? 200 : 204);
    }
    const collection = collections.find(({ name }) => name === area);
    const set = sets.get(area);
    if (collection === undefined || set === undefined) return refuse(404);
    const name = nameIn(body);
    if (id === undefined) {
      if (method === 'GET') {
        const items = [...set.values()].map((one) => shown(collection, one));
        const { pageSize = items.length } = collection;
        const page = Number(query.get('page') ?? 1);
        return sendJson(response, 200, items.slice((page - 1) * pageSize, page * pageSize));
      }
      if (method === 'DELETE') {
        harm.push(`DELETE ${path}${query.size === 0 ? '' : `?${query.toString()}`}`);
        return refuse(204);
      }
      if (method !== 'POST') return refuse(405);
      if (name === undefined) return refuse(422);
      const before = collection.upserts ? [...set.values()].find((one) => one.name === name) : undefined;
      return sendJson(response, collection.upserts ? 200 : 201, shown(collection, before ?? add(collection, name, false)));
    }
    if (id === 'send-all') {
      if (method !== 'POST') return refuse(405);
      harm.push(`POST ${path}`);
      return refuse(202);
    }
    const found = set.get(decodeURIComponent(id));
    if (method === 'PUT' && action === undefined && found === undefined && collection.putCreates) {
      if (name === undefined) return refuse(422);
      return sendJson(response, 201, shown(collection, add(collection, name, false, decodeURIComponent(id))));
    }
    if (found === undefined) return refuse(404);
    if (method === 'GET' && action === undefined) return sendJson(response, 200, shown(collection, found));
    const isKnown =
      action === undefined ? method === 'PUT' || method === 'DELETE' : action === 'archive' ? method === 'POST' : method === 'DELETE';
    if (!isKnown) return refuse(405);
    touch(request, found);
    if (action === 'parts') return refuse(404);
    if (action !== undefined) return refuse(200);
    if (method === 'DELETE') return void (set.delete(found.id) && refuse(204));
    if (name === undefined) return refuse(422);
    set.set(found.id, { ...found, name });
    return sendJson(response, 200, shown(collection, { ...found, name }));
  });

  let turn = 0;
  return {
    ...server,
    document: documentOf(collections),
    harm,
    remains: () =>
      collections.flatMap((collection) =>
        [...(sets.get(collection.name)?.values() ?? [])].flatMap(({ id, isForeign }) => (isForeign ? [] : [{ collection, id }])),
      ),
    otherProgram() {
      const collection = collections[turn++ % collections.length];
      const set = sets.get(collection?.name ?? '');
      if (collection === undefined || set === undefined) return;
      // Two programs that use the same name share what the service finds by that name.
      add(collection, 'grey', true);
      const old = [...set.values()].filter(({ isForeign }) => isForeign);
      if (old.length > 5 && old[0] !== undefined) set.delete(old[0].id);
    },
  };
}

function nameIn(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const name: unknown = Object(value).name;
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch {
    return undefined;
  }
}
