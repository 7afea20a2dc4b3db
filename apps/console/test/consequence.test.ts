/** The sentences of `x-consequence`, with the amounts of the responses that they are about. */
import { joinPointer, keysOf, parseDocument, readOperations, schemaNodes, valueAt } from '@reseller/contract';
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import type { OperationId } from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { evaluateConsequence, readSentence, sentenceOf } from '../src/document/consequence.ts';
import { operations } from '../src/document/operations.data.ts';

const document = parseDocument(operatorDocument);
const described = readOperations(document);
const marked = Object.entries(operations).flatMap(([id, { consequence }]) => (consequence ? [{ id, consequence }] : []));

test('the dialog of each operation that starts or raises a cost says the cost', () => {
  const costly = described.filter(({ pointer }) => Object(valueAt(document, pointer))['x-effect'] === 'cost').map(({ id }) => id);
  expect(costly.length).toBeGreaterThan(0);
  const told = Object.entries(operations).flatMap(([id, { consequence, quote }]) => ((consequence ?? quote) === undefined ? [] : [id]));
  expect(told).toEqual(expect.arrayContaining(costly));
});

test('the operation at the same path followed by `/quote` states the price, and each of its values has a title', () => {
  expect(operations.resizeVm.quote).toMatchObject({ id: 'quoteResizeVm', titles: { price: 'Price for 30 days' } });
  const quotes = Object.values(operations).flatMap(({ quote }) => quote ?? []);
  expect(quotes.flatMap(({ titles }) => Object.values(titles)).filter((title) => title === 'undefined')).toEqual([]);
});

describe.each(marked)('$id', ({ id, consequence: { reads, parameters, items, where = {}, cases } }) => {
  const operation = described.find((one) => one.id === id) ?? expect.fail(`There is no operation ${id}.`);
  const read = described.find((one) => one.id === reads) ?? expect.fail(`There is no operation ${reads}.`);
  const root = read.responses['200']?.content['application/json']?.pointer ?? expect.fail(`${reads} has no JSON.`);

  test('reads an operation that takes its parameters', () => {
    expect(read.method).toBe('GET');
    const names = new Set(read.parameters.map(({ name }) => name));
    expect(Object.keys(parameters).filter((name) => !names.has(name))).toEqual([]);
    expect(read.parameters.filter(({ name, required }) => required && !(name in parameters))).toEqual([]);
  });

  test('refers only to values that its request has', () => {
    const body = operation.body?.pointer;
    const inBody = body === undefined ? [] : schemaNodes(document, body).flatMap(({ schema }) => keysOf(schema, 'properties'));
    const has = new Set([
      ...operation.parameters.filter(({ in: place }) => place === 'path').map(({ name }) => `$request.path.${name}`),
      ...inBody.map((name) => `$request.body#/${name}`),
    ]);
    const references = [...Object.values(parameters), ...Object.values(where)].map(String).filter((value) => value.startsWith('$'));
    expect(references.filter((reference) => !has.has(reference))).toEqual([]);
  });

  test('names only values that the response has', () => {
    const list = items === undefined ? [root] : placesAt(root, items);
    const wanted = cases.flatMap(({ when = {} }) => Object.keys(when)).filter((name) => name !== 'count');
    const amounts = cases.flatMap(({ text }) => [...text.matchAll(/\{(.*?)\}/g)].flatMap(([, term = '']) => term.split(/ [/-] /)));
    const named = amounts.filter((name) => name !== 'count' && name !== '30');
    expect(wanted.filter((name) => placesAt(root, name).length === 0)).toEqual([]);
    expect([...named, ...Object.keys(where)].filter((name) => list.every((place) => placesAt(place, name).length === 0))).toEqual([]);
  });
});

const vm = (state: string, status = 'CLEAN') => ({ state, monthly_price: '1234.60', abuse: { status } });
const position = (monthly_price: string | null, kind = 'vm', stop: string | null = null) => ({ kind, stop, monthly_price });
const invoice = (status: string, unpaid: string | null, amounts: readonly string[] = []) => ({
  status,
  total: '100.00',
  unpaid,
  credit_notes: amounts.map((amount) => ({ amount })),
});
const open = (amounts: readonly (string | null)[], next_cursor: string | null = null) => ({
  items: amounts.map((unpaid) => ({ unpaid })),
  next_cursor,
});

test.each<[OperationId, object, string | undefined]>([
  [
    'suspendAccount',
    { positions: [position('10.00', 'vm', '2026-11-01T00:00:00Z'), position('9.00', 'domain')] },
    'No VM of it is billed at present.',
  ],
  ['suspendAccount', { positions: [position('10.40'), position('59.00', 'dedicated')] }, 'Its VM runs on and costs 0.34 EUR net a day.'],
  ['suspendAccount', { positions: [position('10.40'), position('52.00')] }, 'Its 2 VMs run on and cost 2.08 EUR net a day.'],
  ['recordPayment', open([]), 'The account has no open invoice: the payment becomes its balance.'],
  ['recordPayment', open(['4.13']), 'The account owes 4.13 EUR gross for its open invoice.'],
  ['recordPayment', open(['4.13', null, '1000.10']), 'The account owes 1\u202f004.23 EUR gross for its 3 open invoices.'],
  ['recordPayment', open(['4.13', '1.00'], 'next'), 'The account owes more than 5.13 EUR gross.'],
  [
    'setCreditLimit',
    { credit_limit: '1000.00', remaining_credit: '-0.50' },
    'Of its present limit of 1\u202f000.00 EUR net, -0.50 are left.',
  ],
  ['createCreditNote', invoice('OPEN', '119.00', ['10.00', '0.05']), 'Up to 89.95 EUR net of this invoice can be credited.'],
  ['markInvoicePaid', invoice('PAID', '0.00'), 'It is paid already.'],
  ['markInvoicePaid', invoice('OPEN', null), 'It has no document, so it becomes paid without a payment.'],
  ['markInvoicePaid', invoice('OPEN', '19.00'), 'A payment of 19.00 EUR gross is recorded with the day of today.'],
  ['cancelInvoice', invoice('CANCELLED', '0.00'), 'It is cancelled already.'],
  ['cancelInvoice', invoice('PAID', '0.00'), 'It is paid, so it cannot be cancelled. Create a credit note instead.'],
  ['cancelInvoice', invoice('OPEN', null), 'The account no longer owes its 100.00 EUR net.'],
  ['cancelInvoice', invoice('OPEN', '19.00'), 'The account no longer owes the 19.00 EUR gross that are left to pay.'],
  ['stopVm', vm('running'), 'It no longer costs 41.15 EUR net a day until it is started.'],
  ['stopVm', vm('stopped', 'BLOCKED'), 'It is blocked and stopped already, so the bill stays as it is.'],
  ['startVm', vm('stopped'), 'It costs 41.15 EUR net a day from its start on.'],
  ['startVm', vm('running'), undefined],
  ['restartVmBilling', vm('running'), 'It still costs 41.15 EUR net a day.'],
  ['removeVm', vm('running'), 'It no longer costs 41.15 EUR net a day.'],
  ['removeVm', vm('stopped'), 'It is stopped, so the bill stays as it is.'],
  ['removeVm', vm('stopped', 'BLOCKED'), 'If it ran when it was blocked, it no longer costs 41.15 EUR net a day.'],
  ['setVmAbuseStatus', vm('running'), 'Blocked, it is stopped and still costs 41.15 EUR net a day.'],
  ['setVmAbuseStatus', vm('stopped'), 'It is stopped, and nothing is billed.'],
])('%s: the first case that fits has the amounts of %o', (id, response, sentence) => {
  const { consequence } = operations[id];
  expect(consequence && sentenceOf(consequence, response)).toBe(sentence);
});

test('a sentence is about what the form names, and waits until the form names it', () => {
  const order = operations.orderDedicatedServer.consequence ?? expect.fail('The order of a server has no sentence.');
  const form = { account_id: 'a', market_id: 'chosen' };
  const market = {
    items: [
      { id: 'other', price: '10.00' },
      { id: 'chosen', price: '1234.5' },
    ],
    next_cursor: null,
  };
  expect(evaluateConsequence(order, { body: form })?.parameters).toEqual({ limit: 200 });
  const chosen = evaluateConsequence(order, { body: form }) ?? expect.fail('The form names an offer.');
  expect(sentenceOf(chosen, market)).toBe('The account pays 1\u202f234.50 EUR net when the set-up completes, and again at each renewal.');
  expect(sentenceOf(chosen, { items: [] })).toBeUndefined();
  for (const body of [undefined, {}, { market_id: '' }]) expect(evaluateConsequence(order, { body })).toBeUndefined();
});

test('a sentence about one item finds it on any page of its list, and reads no page after it', async () => {
  const order = operations.orderDedicatedServer.consequence ?? expect.fail('The order of a server has no sentence.');
  const chosen = evaluateConsequence(order, { body: { market_id: 'chosen' } }) ?? expect.fail('The form names an offer.');
  const pages = new Map([
    [undefined, { items: [{ id: 'other', price: '10.00' }], next_cursor: 'second' }],
    ['second', { items: [{ id: 'chosen', price: '59.00' }], next_cursor: 'third' }],
    ['third', { items: [], next_cursor: null }],
  ]);
  const read: (string | undefined)[] = [];
  const readPage = async (cursor: string | undefined) => pages.get((read.push(cursor), cursor));
  expect(await readSentence(chosen, readPage)).toContain(' 59.00 EUR ');
  expect(read).toEqual([undefined, 'second']);
  expect(await readSentence({ ...chosen, where: { id: 'sold' } }, readPage)).toBeUndefined();
});

/** The schemas at a name with dots, through lists. */
function placesAt(root: string, name: string): readonly string[] {
  return name.split('.').reduce<readonly string[]>(
    (places, part) =>
      places
        .flatMap((place) => schemaNodes(document, place))
        .flatMap((node) => (keysOf(node.schema, 'properties').includes(part) ? [joinPointer(node.pointer, 'properties', part)] : []))
        .flatMap((place) => [place, ...itemsOf(place)]),
    [root, ...itemsOf(root)],
  );
}

function itemsOf(place: string): readonly string[] {
  return schemaNodes(document, place).flatMap(({ schema, pointer }) =>
    schema['items'] === undefined ? [] : [joinPointer(pointer, 'items')],
  );
}
