/** The journal of a run: the states of its entries, and the list of remaining changes. */
import { beforeEach, describe, expect, test } from 'vitest';

import { exchangeWith } from '../../test/exchange-with.ts';
import { isUndo, undoOf } from '../document/creation.ts';
import { parseDocument } from '../document/document.ts';
import { readOperations } from '../document/operations.ts';
import { NO_PARAMETERS, NOTHING_GIVEN } from '../document/parameters.ts';
import { createValidator } from '../document/validator.ts';
import type { Purpose } from '../exchange/exchange.ts';
import { Cleaner } from './clean-up.ts';
import type { JournalEntry } from './journal.ts';
import { Ownership } from './ownership.ts';
import type { Effect, Step } from './step.ts';

const thing = {
  200: {
    description: 'The thing.',
    content: { 'application/json': { schema: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } } } },
  },
};
const done = { 200: { description: 'Done.' } };
const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
const document = parseDocument({
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  security: [{ Key: [] }],
  paths: {
    '/things': { post: { operationId: 'createThing', responses: thing } },
    '/things/{id}': {
      parameters,
      get: { operationId: 'getThing', responses: thing },
      delete: { operationId: 'removeThing', responses: done },
    },
    '/things/{id}/hide': { parameters, post: { operationId: 'hideThing', responses: done } },
    '/things/{id}/unhide': { parameters, post: { operationId: 'unhideThing', responses: done } },
    '/things/{id}/lock': { parameters, post: { operationId: 'lockThing', responses: done } },
    '/things/{id}/unlock': { parameters, post: { operationId: 'unlockThing', responses: done } },
    '/things/{id}/polish': { parameters, post: { operationId: 'polishThing', responses: done } },
    '/notes/create': { post: { operationId: 'createNote', responses: thing } },
    '/notes/{id}': { parameters, delete: { operationId: 'removeNote', responses: done } },
    '/letters': { post: { operationId: 'sendLetter', responses: done } },
    '/papers': { post: { operationId: 'createPaper', responses: thing } },
    '/papers/{id}': { parameters, get: { operationId: 'getPaper', responses: thing } },
    '/books/{id}/pages': { parameters, post: { operationId: 'createPage', responses: thing } },
  },
  components: { securitySchemes: { Key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
});
const operations = readOperations(document);
const operationOf = (id: string) => {
  const operation = operations.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`The document has no operation ${id}.`);
  return operation;
};

function stepOf(id: string, more: Partial<Step> = {}): Step {
  const operation = operationOf(id);
  const effect: Effect = operation.readOnly ? 'reads' : 'changes';
  return {
    operation,
    purpose: 'call',
    method: operation.method,
    credential: 'account',
    path: 'none',
    form: undefined,
    parameters: NO_PARAMETERS,
    detail: '',
    times: 1,
    phase: 1,
    effect,
    ...more,
  };
}

let entries: JournalEntry[];
let ownership: Ownership;
let cleaner: Cleaner;
const TARGET = new URL('http://target.example/base/');
beforeEach(() => {
  entries = [];
  cleaner = cleanerOf(true);
});

function cleanerOf(hasJournal: boolean): Cleaner {
  const journal = { record: async (entry: JournalEntry) => void entries.push(entry), open: async () => [] };
  ownership = new Ownership({
    document,
    operations,
    validator: createValidator(document),
    naming: { names: new Map(), given: NOTHING_GIVEN },
  });
  return new Cleaner({
    document,
    operations,
    ownership,
    journal: hasJournal ? journal : undefined,
    target: TARGET,
  });
}

/** Makes a change with a response, or without one, and returns the states of its entry. */
async function change(step: Step, path: Record<string, string>, end: number | 'lost' | 'unsent', body: unknown = {}): Promise<string[]> {
  const from = entries.length;
  const entry = await cleaner.before(step, path);
  if (end === 'lost' || end === 'unsent') await cleaner.lost(entry, end === 'unsent');
  else {
    const exchange = exchangeWith(step.operation, body, { status: end, purpose: step.purpose, path });
    await cleaner.after(entry, step, exchange, ownership.saw(exchange));
  }
  return entries.slice(from).map(({ state }) => state);
}

const made = { id: 't7' };
const BY_HAND = `the next run in full mode tries again, or run: curl -i -X DELETE -H "X-Key: $CONTRACT_API_KEY" 'http://target.example/base/things/t7'`;

describe('the undo operation', () => {
  test.each([
    ['createThing', 'removeThing'],
    ['createNote', 'removeNote'],
    ['hideThing', 'unhideThing'],
    ['unhideThing', undefined],
    ['removeThing', undefined],
    ['polishThing', undefined],
    ['sendLetter', undefined],
    ['createPage', undefined],
  ])('of %s it is %s', (id, expected) => {
    expect(undoOf(operationOf(id), operations)?.id).toBe(expected);
  });

  test('is recognised as one', () => {
    const undos = operations.filter((operation) => isUndo(operation, operations)).map(({ id }) => id);
    expect(undos.toSorted()).toEqual(['removeNote', 'removeThing', 'unhideThing', 'unlockThing']);
  });
});

describe('the entry of a change', () => {
  test('is recorded before the request, with the operation that undoes it', async () => {
    const entry = await cleaner.before(stepOf('hideThing'), { id: 't7' });
    expect(entries).toEqual([entry]);
    expect(entry).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      target: 'http://target.example/base/',
      operation: 'hideThing',
      state: 'intended',
      undo: { operation: 'unhideThing', path: { id: 't7' } },
      made: 'id t7',
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
  });

  test('is not recorded for a read, even without a journal', async () => {
    expect(await cleaner.before(stepOf('getThing'), { id: 't7' })).toBeUndefined();
    await cleaner.after(undefined, stepOf('getThing'), exchangeWith(operationOf('getThing'), made), undefined);
    await cleaner.lost(undefined, true);
    expect(await cleanerOf(false).before(stepOf('getThing'), {})).toBeUndefined();
    await expect(cleanerOf(false).before(stepOf('createThing'), {})).rejects.toThrow('A run that changes something needs a journal.');
    expect(entries).toEqual([]);
  });

  test.each<[string, string, Record<string, string>, number | 'lost' | 'unsent', unknown, string[]]>([
    ['a creation that succeeds', 'createThing', {}, 200, made, ['intended', 'done']],
    ['a creation whose response does not name the thing', 'createThing', {}, 200, {}, ['intended', 'done']],
    ['a creation that is refused', 'createThing', {}, 422, {}, ['intended', 'closed']],
    ['a creation that fails', 'createThing', {}, 500, {}, ['intended', 'closed']],
    ['a creation that is lost', 'createThing', {}, 'lost', {}, ['intended']],
    ['a creation that did not leave', 'createThing', {}, 'unsent', {}, ['intended', 'closed']],
    ['a change that can be undone', 'hideThing', { id: 't7' }, 200, {}, ['intended', 'done']],
    ['a change that nothing undoes', 'polishThing', { id: 't7' }, 200, {}, ['intended', 'stays']],
    ['a change that nothing undoes, refused', 'polishThing', { id: 't7' }, 404, {}, ['intended', 'closed']],
    ['a creation that nothing undoes', 'sendLetter', {}, 200, {}, ['intended', 'stays']],
  ])('of %s', async (_, id, path, end, body, states) => {
    expect(await change(stepOf(id), path, end, body)).toEqual(states);
  });

  test.each<[Purpose, number, string]>([
    ['undo', 200, 'closed'],
    ['undo', 404, 'closed'],
    ['undo', 409, 'closed'],
    ['undo', 410, 'closed'],
    ['undo', 400, 'done'],
    ['undo', 401, 'done'],
    ['undo', 429, 'done'],
    ['undo', 500, 'done'],
    ['undo', 503, 'done'],
    ['remove', 200, 'closed'],
    ['remove', 404, 'closed'],
    ['remove', 500, 'done'],
  ])('of an earlier run, after a request with the purpose %s and the status %i, is %s', async (purpose, status, state) => {
    const step = stepOf('removeThing', { purpose, undoes: 'entry-of-before' });
    expect(await change(step, { id: 't7' }, status)).toEqual(['intended', state]);
    expect(entries.map(({ id }) => id)).toEqual(['entry-of-before', 'entry-of-before']);
    expect(entries[0]?.undo).toEqual({ operation: 'removeThing', path: { id: 't7' } });
    expect(cleaner.finish().left).toHaveLength(state === 'done' ? 1 : 0);
  });

  test('is closed by the operation that undoes it on the same resource', async () => {
    await change(stepOf('hideThing'), { id: 't7' }, 200);
    await change(stepOf('hideThing'), { id: 't8' }, 200);
    expect(await change(stepOf('unhideThing', { purpose: 'undo' }), { id: 't7' }, 200)).toEqual(['intended', 'closed', 'closed']);
    expect(entries.filter(({ operation, state }) => operation === 'hideThing' && state === 'closed').map((entry) => entry.made)).toEqual([
      'id t7',
    ]);
    expect([cleaner.didTo('hideThing', { id: 't7' }), cleaner.didTo('hideThing', { id: 't8' })]).toEqual([false, true]);
  });

  test('stays open while another change of its resource is undone, and is closed by the removal of the resource', async () => {
    const closed = () => entries.filter(({ state }) => state === 'closed').map(({ operation }) => operation);
    await change(stepOf('createThing'), {}, 200, made);
    await change(stepOf('lockThing'), { id: 't7' }, 200);
    await change(stepOf('hideThing'), { id: 't7' }, 200);
    await change(stepOf('unhideThing', { purpose: 'undo' }), { id: 't7' }, 200);
    expect(closed().toSorted()).toEqual(['hideThing', 'unhideThing']);
    await change(stepOf('removeThing', { purpose: 'undo' }), { id: 't7' }, 200);
    expect(closed().toSorted()).toEqual(['createThing', 'hideThing', 'lockThing', 'removeThing', 'unhideThing']);
  });

  test('stays open after a refused undo', async () => {
    await change(stepOf('hideThing'), { id: 't7' }, 200);
    expect(await change(stepOf('unhideThing', { purpose: 'undo' }), { id: 't7' }, 500)).toEqual(['intended', 'closed']);
    expect(cleaner.didTo('hideThing', { id: 't7' })).toBe(true);
    expect(cleaner.finish().unfinished).toHaveLength(1);
  });
});

describe('the resources of a run', () => {
  test('are those that it created, for the operations that apply to them', async () => {
    await change(stepOf('createThing'), {}, 200, made);
    expect(ownership.pathsFor(stepOf('removeThing'), [])).toEqual([{ id: 't7' }]);
    await change(stepOf('createThing'), {}, 200);
    await change(stepOf('hideThing'), { id: 't7' }, 'lost');
    // One of several open changes. The others are on another resource, on an unknown one, or uncertain.
    expect(cleaner.didTo('createThing', { id: 't7' })).toBe(true);
    expect(cleaner.didTo('createThing', { id: 't8' })).toBe(false);
    expect(cleaner.didTo('hideThing', { id: 't7' })).toBe(false);
  });

  test('do not include those of refused and lost creations, or of changes', async () => {
    await change(stepOf('createThing'), {}, 422, made);
    await change(stepOf('createThing'), {}, 'lost');
    await change(stepOf('hideThing'), { id: 't7' }, 200, made);
    expect(ownership.pathsFor(stepOf('removeThing'), [])).toEqual([]);
    expect(cleaner.didTo('createThing', { id: 't7' })).toBe(false);
  });
});

describe('the list of remaining changes', () => {
  test('keeps a change that nothing undoes when the same thing is changed again', async () => {
    await change(stepOf('polishThing'), { id: 't7' }, 200);
    await change(stepOf('hideThing'), { id: 't7' }, 200);
    await change(stepOf('unhideThing', { purpose: 'undo' }), { id: 't7' }, 200);
    expect(cleaner.finish().left).toEqual(['polishThing (id t7): the document has no operation that undoes it']);
  });

  test('has the name that the creation returned', async () => {
    await change(stepOf('createPaper'), {}, 200, { id: 'p1' });
    expect(cleaner.finish().left).toEqual(['createPaper (id p1): the document has no operation that undoes it']);
  });

  test('is empty after the run undid everything', async () => {
    await change(stepOf('createThing'), {}, 200, made);
    await change(stepOf('polishThing'), { id: 't7' }, 200);
    await change(stepOf('removeThing', { purpose: 'remove' }), { id: 't7' }, 200);
    // The removal of a resource also removes its changes.
    expect(cleaner.finish()).toEqual({ left: [], unfinished: [] });
  });

  test('has each change once, with the command that undoes it', async () => {
    await change(stepOf('createThing'), {}, 200, made);
    const line = `createThing (id t7): it was not undone; ${BY_HAND}`;
    expect(cleaner.finish()).toEqual({ left: [line], unfinished: [line] });
  });

  test('says that a change without a response may have happened', async () => {
    await change(stepOf('createThing'), {}, 'lost');
    await change(stepOf('createThing'), {}, 'lost');
    await change(stepOf('hideThing'), { id: 't7' }, 'lost');
    await change(stepOf('sendLetter'), {}, 'lost');
    const { left, unfinished } = cleaner.finish();
    expect(left).toEqual([
      'createThing: its response did not tell whether it happened; look for it, and undo it with removeThing (DELETE /things/{id}) (2 times)',
      `hideThing (id t7): its response did not tell whether it happened; ${BY_HAND.replace('DELETE', 'POST').replace("t7'", "t7/unhide'")}`,
      'sendLetter: its response did not tell whether it happened; the document has no operation that undoes it',
    ]);
    expect(unfinished).toEqual(left.slice(0, 2));
  });

  test('has changes that cannot be undone, which do not make the run fail', async () => {
    await change(stepOf('polishThing'), { id: 't7' }, 200);
    await change(stepOf('sendLetter'), {}, 200);
    await change(stepOf('removeThing', { purpose: 'remove' }), { id: 't8' }, 200);
    expect(cleaner.finish()).toEqual({
      left: [
        'polishThing (id t7): the document has no operation that undoes it',
        'sendLetter: the document has no operation that undoes it',
      ],
      unfinished: [],
    });
  });
});
