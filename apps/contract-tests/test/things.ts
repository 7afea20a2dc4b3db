import { parseDocument } from '@reseller/contract';

const thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^t-' }, example: 't-1' };

function json(schema: unknown, value?: unknown): unknown {
  return { 'application/json': { schema, ...(value === undefined ? {} : { examples: { one: { value } } }) } };
}

const failures = {
  401: { description: 'No key.', content: json({ type: 'object' }, { message: 'no key' }) },
  404: { description: 'No such thing.', content: json({ type: 'object' }, { message: 'none' }) },
};

/** A simple document without an envelope: a collection whose items can be created, read and removed. */
export const THINGS = parseDocument({
  openapi: '3.1.0',
  info: { title: 'Things', version: '1' },
  security: [{ Key: [] }],
  paths: {
    '/things': {
      get: {
        operationId: 'listThings',
        responses: { 200: { description: 'All.', content: json({ type: 'array', items: thing }, [{ id: 't-1' }]) }, ...failures },
      },
      post: { operationId: 'makeThing', responses: { 201: { description: 'Made.', content: json(thing, { id: 't-7' }) }, ...failures } },
    },
    '/things/{id}': {
      parameters: [ID],
      get: { operationId: 'getThing', responses: { 200: { description: 'One.', content: json(thing, { id: 't-1' }) }, ...failures } },
      delete: {
        operationId: 'removeThing',
        responses: { 200: { description: 'Gone.', content: json(thing, { id: 't-1' }) }, ...failures },
      },
    },
  },
  components: { securitySchemes: { Key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
});
