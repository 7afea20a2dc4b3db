import { parseDocument } from '@reseller/contract';

import { sendJson, startServer } from './raw-server.ts';
import type { RawServer } from './raw-server.ts';

const item = {
  type: 'object',
  required: ['id', 'name', 'created'],
  properties: { id: { type: 'string' }, name: { type: 'string' }, created: { type: 'string', format: 'date-time' } },
};

function json(schema: unknown): unknown {
  return { 'application/json': { schema } };
}

const REFUSALS = {
  400: { description: 'Invalid.', content: json({ type: 'object' }) },
  401: { description: 'No token.', content: json({ type: 'object' }) },
  404: { description: 'None.', content: json({ type: 'object' }) },
  405: { description: 'Not allowed.', content: json({ type: 'object' }) },
};

/** Items that can be created, read and removed, and two operations on the account that only read. */
export const STOCK = parseDocument({
  openapi: '3.1.0',
  info: { title: 'Stock', version: '1' },
  security: [{ Token: [] }],
  paths: {
    '/items': {
      get: {
        operationId: 'listItems',
        responses: { 200: { description: 'All items.', content: json({ type: 'array', items: item }) }, ...REFUSALS },
      },
      post: {
        operationId: 'addItem',
        requestBody: {
          required: true,
          content: json({
            type: 'object',
            required: ['name'],
            additionalProperties: false,
            properties: { name: { type: 'string', minLength: 2, maxLength: 20 }, size: { type: 'integer', minimum: 1, maximum: 9 } },
          }),
        },
        responses: { 201: { description: 'Added.', content: json(item) }, ...REFUSALS },
      },
    },
    '/items/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: 'getItem', responses: { 200: { description: 'An item.', content: json(item) }, ...REFUSALS } },
      delete: { operationId: 'removeItem', responses: { 204: { description: 'Removed.' }, ...REFUSALS } },
    },
    '/me': {
      get: {
        operationId: 'getMe',
        responses: {
          200: { description: 'You.', content: json({ type: 'object', properties: { email: { type: 'string' } } }) },
          ...REFUSALS,
        },
      },
    },
    '/places/{place}/bins/{bin}': {
      put: {
        operationId: 'putBin',
        parameters: ['place', 'bin'].map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
        responses: { 204: { description: 'Stored.' }, ...REFUSALS },
      },
    },
  },
  components: { securitySchemes: { Token: { type: 'http', scheme: 'bearer' } } },
});

export const STOCK_TOKEN = 'stock-token-of-the-test';

export interface Item {
  readonly id: string;
  readonly name: unknown;
  readonly created: string;
}

export interface Stock extends RawServer {
  readonly items: Map<string, Item>;
  /** Removes all items and begins again with the identifier 1, like a service that restarts without its data. */
  restart(): void;
  add(name: unknown): Item;
}

export interface StockBehaviour {
  /** Whether a body is accepted. Default: the rules of the document. */
  readonly accepts?: (body: Readonly<Record<string, unknown>>) => boolean;
  readonly status?: (method: string, path: string) => number | undefined;
  /** The part of an item in the responses that make it and read it. Default: all of it. */
  readonly shown?: (item: Item, when: 'made' | 'read') => Partial<Item>;
}

function isValid(body: Readonly<Record<string, unknown>>): boolean {
  const { name, size = 1, ...others } = body;
  const isSize = Number.isInteger(size) && Number(size) >= 1 && Number(size) <= 9;
  return typeof name === 'string' && [...name].length >= 2 && [...name].length <= 20 && isSize && Object.keys(others).length === 0;
}

export async function startStock({
  accepts = isValid,
  status: failing = () => undefined,
  shown = (all) => all,
}: StockBehaviour = {}): Promise<Stock> {
  const items = new Map<string, Item>();
  let last = 0;
  let time = 0;
  function add(name: unknown): Item {
    last++;
    // Two items never have the same time, also in a fast test.
    time = Math.max(time + 1, Date.now());
    const created = { id: String(last), name, created: new Date(time).toISOString() };
    items.set(created.id, created);
    return created;
  }
  const server = await startServer(({ method, path, headers, body }, response) => {
    const refuse = (status: number) => sendJson(response, status, {});
    if (headers.authorization?.startsWith('Bearer stock-') !== true) return refuse(401);
    const forced = failing(method, path);
    if (forced !== undefined) return refuse(forced);
    const [area = '', id] = path.split('/').slice(1);
    if (area === 'me') return method === 'GET' ? sendJson(response, 200, { email: 'a@example.com' }) : refuse(405);
    if (area !== 'items') return refuse(404);
    if (id === undefined) {
      if (method === 'GET') return sendJson(response, 200, [...items.values()]);
      if (method !== 'POST') return refuse(405);
      const fields = objectIn(body);
      return fields !== undefined && accepts(fields)
        ? sendJson(response, 201, shown(add(fields['name'] ?? 'unnamed'), 'made'))
        : refuse(400);
    }
    if (method !== 'GET' && method !== 'DELETE') return refuse(405);
    const found = items.get(decodeURIComponent(id));
    if (found === undefined) return refuse(404);
    if (method === 'GET') return sendJson(response, 200, shown(found, 'read'));
    items.delete(found.id);
    response.writeHead(204).end();
  });
  return {
    ...server,
    items,
    add,
    restart() {
      items.clear();
      last = 0;
    },
  };
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
