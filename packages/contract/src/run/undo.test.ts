/** The operation that undoes another one, for every operation of a document at once. */
import { expect, test } from 'vitest';

import { parseDocument } from '../document/document.ts';
import { readOperations } from '../document/operations.ts';
import { isUndo, undoOf } from './undo.ts';

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
  },
});

test('is only `…/un…` or the removal of the created resource', () => {
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
  });
  expect(operations.filter((operation) => isUndo(operation, operations)).map(({ id }) => id)).toEqual([
    'removeThing',
    'unhideThing',
    'removeNote',
    'unstart',
  ]);
});
