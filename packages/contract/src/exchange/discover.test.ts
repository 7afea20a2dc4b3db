import { expect, test } from 'vitest';

import { exchangeWith } from '../../test/exchange-with.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { readOperations } from '../document/operations.ts';
import { createValidator } from '../document/validator.ts';
import { discoverBelow, discoverCreated, discoverPaths } from './discover.ts';
import type { PathValues } from './discover.ts';
import type { Exchange } from './exchange.ts';

function get(operationId: string, schema: unknown, more: Readonly<Record<string, unknown>> = {}): unknown {
  return { get: { operationId, responses: { 200: { description: 'ok', content: { 'application/json': { schema } }, ...more } } } };
}

function byId(name: string, operationId: string): unknown {
  return { parameters: [{ name, in: 'path', required: true, schema: { type: 'string' } }], ...Object(get(operationId, {})) };
}

const byName = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } });
const record = { type: 'object', properties: { zone: { type: 'string' }, record_id: { type: 'integer' }, owner: { type: 'string' } } };

function listOfRecords(operationId: string): unknown {
  return { parameters: [byName('zone')], ...Object(get(operationId, { type: 'array', items: record })) };
}

function write(method: string, operationId: string, parameters: readonly string[]): unknown {
  const responses = { 200: { description: 'ok', content: { 'application/json': { schema: record } } } };
  return { [method]: { operationId, parameters: parameters.map(byName), responses } };
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
    '/shelf/add': {
      put: {
        operationId: 'addShelf',
        responses: {
          200: {
            description: 'ok',
            content: {
              'application/json': { schema: { type: 'object', properties: { label: { type: 'string' }, id: { type: 'integer' } } } },
            },
            links: { added: { operationId: 'getShelf', parameters: { shelf: '$response.body#/label' } } },
          },
        },
      },
    },
    '/shelf/{shelf}/info': byId('shelf', 'getShelf'),
    '/elsewhere/{any}': byId('any', 'getLinked'),
    '/zone/list': get('listZones', { type: 'array', items: { type: 'string' } }),
    '/zone/{zone}/record/list': listOfRecords('listRecords'),
    '/zone/{zone}/record/add': write('put', 'addRecord', ['zone']),
    '/zone/{zone}/record/{record_id}/edit': write('post', 'editRecord', ['zone', 'record_id']),
    '/zone/{zone}/delete': write('delete', 'deleteZone', ['zone']),
    '/zone/{zone}/owner/{owner}/move': write('post', 'moveZone', ['zone', 'owner']),
    '/two/{one}/{two}': {
      parameters: ['one', 'two'].map((name) => ({ name, in: 'path', schema: { type: 'string' } })),
      ...Object(get('getTwo', {})),
    },
  },
};

const operations = new Map(readOperations(document).map((operation) => [operation.id, operation]));
const validator = createValidator(document);

function discover(id: string, given: Readonly<Record<string, unknown>>): readonly PathValues[] {
  const exchanges: Exchange[] = [];
  for (const [source, body] of Object.entries(given)) exchanges.push(exchangeWith(operationOf(source), body));
  return discoverPaths({ document, validator, operation: operationOf(id), exchanges });
}

function operationOf(id: string): Exchange['operation'] {
  const operation = operations.get(id);
  if (operation === undefined) throw new Error(`There is no operation ${id}.`);
  return operation;
}

test('calls an operation without path parameters once', () => {
  expect(discover('listDomains', {})).toEqual([{}]);
});

test('takes identifiers from a list of strings in the collection', () => {
  expect(discover('getDomain', { listDomains: { list: ['a.example', 'b.example', 'a.example'] }, getPricings: { com: {} } })).toEqual([
    { domain: 'a.example' },
    { domain: 'b.example' },
  ]);
});

test('takes identifiers from the keys of a map that the collection returns', () => {
  expect(discover('getInvoice', { listInvoices: { 'INV-1': {}, '..': {}, '': {} } })).toEqual([{ id: 'INV-1' }]);
});

test('takes identifiers from properties with the name of the parameter', () => {
  expect(discover('getServer', { listServers: [{ identifier: 'u1' }, { identifier: 7 }] })).toEqual([
    { identifier: 'u1' },
    { identifier: '7' },
  ]);
});

test('takes identifiers from the members of an object with the name of the parameter', () => {
  expect(discover('getHandle', { getDomain: { handle: { ownerC: 'H1', adminC: 'H2', zoneC: null } } })).toEqual([
    { handle: 'H1' },
    { handle: 'H2' },
  ]);
});

test('follows a link of the document', () => {
  expect(discover('getLinked', { listServers: [{ identifier: 'u1' }] })).toEqual([{ any: 'u1' }]);
  expect(discover('getLinked', { listServers: [] })).toEqual([]);
});

test('finds the other items by name when a link identifies only the first item', () => {
  expect(discover('getRack', { listRacks: [{ rack: 'r1' }, { rack: 'r2' }] })).toEqual([{ rack: 'r1' }, { rack: 'r2' }]);
});

test('does not guess the values of two parameters', () => {
  expect(discover('getTwo', { listServers: [{ one: 'a', two: 'b' }] })).toEqual([]);
});

const inZone = (id: string, zone: string, body: unknown): Exchange => exchangeWith(operationOf(id), body, { path: { zone } });

test('finds the identifiers of a nested list together with those of its parents', () => {
  const exchanges = [
    inZone('listRecords', 'a.net', [{ record_id: 7 }, { record_id: 8 }]),
    inZone('listRecords', 'b.net', [{ record_id: 9 }]),
  ];
  expect(discoverPaths({ document, validator, operation: operationOf('editRecord'), exchanges })).toEqual([
    { zone: 'a.net', record_id: '7' },
    { zone: 'a.net', record_id: '8' },
    { zone: 'b.net', record_id: '9' },
  ]);
});

test('finds subresources of resources that the run created', () => {
  const exchanges = [inZone('listRecords', 'a.net', [{ record_id: 7 }]), inZone('listRecords', 'own.net', [{ record_id: 9 }])];
  const isOwn = (above: PathValues): boolean => above['zone'] === 'own.net';
  const below = (id: string) => discoverBelow({ document, validator, operation: operationOf(id), exchanges }, isOwn);
  expect(below('editRecord')).toEqual([{ zone: 'own.net', record_id: '9' }]);
  expect(below('deleteZone')).toEqual([]);
});

test('takes the identifier that a link of the document names, before one with a usual name', () => {
  const exchange = exchangeWith(operationOf('addShelf'), { id: 7, label: 'blue' });
  expect(
    discoverCreated({ document, validator, operation: operationOf('getShelf'), operations: [...operations.values()], exchange }),
  ).toEqual({ shelf: 'blue' });
});

test('takes the identifier of a created subresource together with that of its parent', () => {
  const created = (id: string, exchange: Exchange) =>
    discoverCreated({ document, validator, operation: operationOf(id), operations: [...operations.values()], exchange });
  const added = inZone('addRecord', 'a.net', { zone: 'a.net', record_id: 7, owner: 'H1' });
  expect(created('editRecord', added)).toEqual({ zone: 'a.net', record_id: '7' });
  // The zone and its owner existed before.
  expect(created('deleteZone', added)).toBeUndefined();
  expect(created('moveZone', added)).toBeUndefined();
  // An edit creates nothing.
  const edited = exchangeWith(operationOf('editRecord'), { zone: 'a.net', record_id: 7 }, { path: { zone: 'a.net', record_id: '7' } });
  expect(created('editRecord', edited)).toBeUndefined();
});
