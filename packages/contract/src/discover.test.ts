import { expect, test } from 'vitest';

import type { Answer } from './answer.ts';
import { discoverPaths } from './discover.ts';
import type { PathValues } from './discover.ts';
import type { OpenApiDocument } from './document.ts';
import { readOperations } from './operations.ts';
import { answerTo } from './testing.ts';
import { createValidator } from './validator.ts';

function get(operationId: string, schema: unknown, more: Readonly<Record<string, unknown>> = {}): unknown {
  return { get: { operationId, responses: { 200: { description: 'ok', content: { 'application/json': { schema } }, ...more } } } };
}

function byId(name: string, operationId: string): unknown {
  return { parameters: [{ name, in: 'path', required: true, schema: { type: 'string' } }], ...Object(get(operationId, {})) };
}

const document: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  paths: {
    '/domain/list': get('listDomains', { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } }),
    '/domain/pricings': get('getPricings', { type: 'object', additionalProperties: { type: 'object' } }),
    '/domain/{domain}/info': byId('domain', 'getDomain'),
    '/domain/handle/{handle}/info': byId('handle', 'getHandle'),
    '/invoices': get('listInvoices', { type: 'object', additionalProperties: { type: 'object' } }),
    '/invoices/{id}': byId('id', 'getInvoice'),
    '/server/list': get(
      'listServers',
      { type: 'array', items: { type: 'object', properties: { identifier: { type: 'string' }, secretOf: { type: 'object' } } } },
      { links: { first: { operationId: 'getLinked', parameters: { 'path.any': '$response.body#/0/identifier' } } } },
    ),
    '/server/{identifier}/info': byId('identifier', 'getServer'),
    '/rack/list': get(
      'listRacks',
      { type: 'array', items: { type: 'object', properties: { rack: { type: 'string' } } } },
      {
        links: { first: { operationId: 'getRack', parameters: { rack: '$response.body#/0/rack' } } },
      },
    ),
    '/rack/{rack}/info': byId('rack', 'getRack'),
    '/elsewhere/{any}': byId('any', 'getLinked'),
    '/two/{one}/{two}': {
      parameters: ['one', 'two'].map((name) => ({ name, in: 'path', schema: { type: 'string' } })),
      ...Object(get('getTwo', {})),
    },
  },
};

const operations = new Map(readOperations(document).map((operation) => [operation.id, operation]));
const validator = createValidator(document);

function discover(id: string, given: Readonly<Record<string, unknown>>): readonly PathValues[] {
  const answers: Answer[] = [];
  for (const [source, body] of Object.entries(given)) answers.push(answerTo(operationOf(source), body));
  return discoverPaths({ document, validator, operation: operationOf(id), answers });
}

function operationOf(id: string): Answer['operation'] {
  const operation = operations.get(id);
  if (operation === undefined) throw new Error(`There is no operation ${id}.`);
  return operation;
}

test('an operation without path parameters is called once', () => {
  expect(discover('listDomains', {})).toEqual([{}]);
});

test('a list of texts next to the operation names its identifiers', () => {
  expect(discover('getDomain', { listDomains: { list: ['a.example', 'b.example', 'a.example'] }, getPricings: { com: {} } })).toEqual([
    { domain: 'a.example' },
    { domain: 'b.example' },
  ]);
});

test('a map that the collection answers names them by its keys', () => {
  expect(discover('getInvoice', { listInvoices: { 'INV-1': {}, '..': {}, '': {} } })).toEqual([{ id: 'INV-1' }]);
});

test('a property of the name of the parameter names them', () => {
  expect(discover('getServer', { listServers: [{ identifier: 'u1' }, { identifier: 7 }] })).toEqual([
    { identifier: 'u1' },
    { identifier: '7' },
  ]);
});

test('an object of the name of the parameter names them by its members', () => {
  expect(discover('getHandle', { getDomain: { handle: { ownerC: 'H1', adminC: 'H2', zoneC: null } } })).toEqual([
    { handle: 'H1' },
    { handle: 'H2' },
  ]);
});

test('a link of the document is followed', () => {
  expect(discover('getLinked', { listServers: [{ identifier: 'u1' }] })).toEqual([{ any: 'u1' }]);
  expect(discover('getLinked', { listServers: [] })).toEqual([]);
});

test('a link to the first item of a list leaves the other items to be found by name', () => {
  expect(discover('getRack', { listRacks: [{ rack: 'r1' }, { rack: 'r2' }] })).toEqual([{ rack: 'r1' }, { rack: 'r2' }]);
});

test('where two parameters are needed, nothing is guessed', () => {
  expect(discover('getTwo', { listServers: [{ one: 'a', two: 'b' }] })).toEqual([]);
});
