/** The operation that undoes another one, for every operation of a document at once. */
import { expect, test } from 'vitest';

import { isUndo, undoOf } from './creation.ts';
import { parseDocument } from './document.ts';
import { readOperations } from './operations.ts';

const responses = { 200: { description: 'Done.' } };
const document = parseDocument({
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  paths: {
    // Parts of a resource come first, so that they are not mistaken for the resource.
    '/things/{id}/parts/{part}': { delete: { operationId: 'removePart', responses } },
    '/things': { post: { operationId: 'createThing', responses } },
    '/things/{id}': { delete: { operationId: 'removeThing', responses }, put: { operationId: 'changeThing', responses } },
    '/things/{id}/hide': { post: { operationId: 'hideThing', responses }, delete: { operationId: 'hideThingToo', responses } },
    '/things/{id}/unhide': { post: { operationId: 'unhideThing', responses } },
    '/things/{id}/lock': { post: { operationId: 'lockThing', responses } },
    '/things/{id}/unlock': { get: { operationId: 'readUnlock', responses } },
    '/notes/create': { post: { operationId: 'createNote', responses } },
    '/notes/{id}': { delete: { operationId: 'removeNote', responses } },
    '/letters': { post: { operationId: 'sendLetter', responses } },
    '/start': { post: { operationId: 'start', responses } },
    '/unstart': { post: { operationId: 'unstart', responses } },
    '/all': { delete: { operationId: 'removeAll', responses } },
    '/all/{id}': { delete: { operationId: 'removeOne', responses } },
    // A POST next to an item is not a creation.
    '/notes/send-all': { post: { operationId: 'sendNotes', responses } },
    '/servers/{server}/zones': { post: { operationId: 'createZone', responses } },
    '/servers/{name}/zones/{zone}': { delete: { operationId: 'removeZone', responses } },
    '/servers/{name}/zones/{zone}/keys/add': { post: { operationId: 'addKey', responses } },
    '/servers/{name}/zones/{zone}/keys/{key}/remove': { delete: { operationId: 'removeKey', responses } },
    '/servers.json': { post: { operationId: 'createServer', responses } },
    '/servers/{name}.json': { delete: { operationId: 'removeServer', responses } },
  },
});

test('only `…/un…` or the removal of the created resource undoes a creation', () => {
  const operations = readOperations(document);
  const undos = operations.flatMap((operation): [string, string][] => {
    const undo = undoOf(operation, operations);
    return undo === undefined ? [] : [[operation.id, undo.id]];
  });
  expect(Object.fromEntries(undos)).toEqual({
    createThing: 'removeThing',
    hideThing: 'unhideThing',
    hideThingToo: 'unhideThing',
    createNote: 'removeNote',
    start: 'unstart',
    createZone: 'removeZone',
    addKey: 'removeKey',
    createServer: 'removeServer',
  });
  expect(operations.filter((operation) => isUndo(operation, operations)).map(({ id }) => id)).toEqual([
    'removeThing',
    'unhideThing',
    'removeNote',
    'unstart',
    'removeZone',
    'removeKey',
    'removeServer',
  ]);
});
