import { expect, test } from 'vitest';

import { createMatcher } from './match.ts';
import { readOperations } from './operations.ts';

const operations = readOperations({
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  paths: {
    '/invoices/{id}': { get: { operationId: 'getInvoice' } },
    '/invoices/current': { get: { operationId: 'getCurrent' }, post: { operationId: 'postCurrent' } },
    '/domain/{domain}/info': { get: { operationId: 'getDomain' } },
    '/domain/handle/{handle}/info': { get: { operationId: 'getHandle' } },
    '/files/{name}.{ext}': { get: { operationId: 'getFile' } },
  },
});

test.each([
  ['GET', '/invoices/current', 'getCurrent', {}],
  ['post', '/invoices/current', 'postCurrent', {}],
  ['GET', '/invoices/7', 'getInvoice', { id: '7' }],
  ['GET', '/invoices/a%2Fb', 'getInvoice', { id: 'a/b' }],
  ['GET', '/domain/a.example/info', 'getDomain', { domain: 'a.example' }],
  ['GET', '/domain/handle/H1/info', 'getHandle', { handle: 'H1' }],
  ['GET', '/files/a.txt', 'getFile', { name: 'a', ext: 'txt' }],
])('matches %s %s to %s', (method, path, id, parameters) => {
  const match = createMatcher(operations)(method, path);
  expect(match?.operation.id).toBe(id);
  expect(match?.parameters).toEqual(parameters);
});

test.each([
  ['DELETE', '/invoices/7'],
  ['GET', '/invoices/'],
  ['GET', '/invoices/7/more'],
  ['GET', '/invoices/%ff'],
  ['GET', '/filesXaXtxt'],
])('does not match %s %s', (method, path) => {
  expect(createMatcher(operations)(method, path)).toBeUndefined();
});
