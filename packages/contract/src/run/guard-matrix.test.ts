/** Requests that the guard sends and requests that it refuses, each with one deviation. A read-only run changes nothing, whatever the document. */
import { beforeEach, describe, expect, test } from 'vitest';

import { parseDocument } from '../document/document.ts';
import type { Operation } from '../document/operation.ts';
import { readOperations } from '../document/operations.ts';
import { NO_PARAMETERS } from '../document/parameters.ts';
import { attachCredential } from '../exchange/credential.ts';
import type { Credential } from '../exchange/exchange.ts';
import { createGuard, RefusedRequestError } from './guard.ts';
import type { Guard, GuardOptions } from './guard.ts';
import { NO_BUDGET } from './price.ts';
import { planContract, runContract } from './run.ts';
import type { Step } from './step.ts';

const KEY = 'key-of-the-account';
const TARGET = new URL('http://target.example/base/');
const TEXT = { type: 'string' };

const formOf = (type: string) => ({
  content: { [type]: { schema: { type: 'object', properties: { a: TEXT, b: TEXT, id: TEXT, offset: { type: 'integer' } } } } },
});
const responses = { 200: { description: 'Done.' } };
const document = parseDocument({
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  security: [{ Header: [] }],
  paths: {
    '/thing/{id}': { get: { operationId: 'getThing', responses } },
    '/thing': { get: { operationId: 'listThings', responses } },
    '/search': {
      post: { operationId: 'search', 'x-read-only': true, requestBody: formOf('application/x-www-form-urlencoded'), responses },
    },
    '/search-json': { post: { operationId: 'searchJson', 'x-read-only': true, requestBody: formOf('application/json'), responses } },
    '/by-query': { get: { operationId: 'byQuery', security: [{ Query: [] }], responses } },
    '/by-cookie': { get: { operationId: 'byCookie', security: [{ Cookie: [] }], responses } },
    '/by-bearer': { get: { operationId: 'byBearer', security: [{ Bearer: [] }], responses } },
    '/open': { get: { operationId: 'open', security: [], responses } },
    '/buy': { post: { operationId: 'buy', 'x-billable': true, responses } },
  },
  components: {
    securitySchemes: {
      Header: { type: 'apiKey', in: 'header', name: 'X-Key' },
      Query: { type: 'apiKey', in: 'query', name: 'key' },
      Cookie: { type: 'apiKey', in: 'cookie', name: 'key' },
      Bearer: { type: 'http', scheme: 'bearer' },
    },
  },
});
const operations = readOperations(document);

function stepOf(id: string, more: Partial<Step> = {}): Step {
  const operation = operations.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`The document has no operation ${id}.`);
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
    effect: 'reads',
    ...more,
  };
}

let sent: string[];
let statuses: number[];
beforeEach(() => {
  sent = [];
  statuses = [];
});

function guardOf(steps: readonly Step[], more: Partial<GuardOptions> = {}): Guard {
  return createGuard({
    steps,
    refusal: () => undefined,
    target: TARGET,
    keyOf,
    budget: NO_BUDGET,
    priceOf: () => undefined,
    send: async ({ method, url }) => {
      sent.push(`${method} ${url}`);
      return new Response(null, { status: statuses.shift() ?? 200 });
    },
    ...more,
  });
}

const keyOf = (credential: Credential) => ({ account: KEY, wrong: 'made-up', none: undefined })[credential];

interface Parts {
  readonly method?: string;
  readonly body?: string;
  readonly key?: string | undefined;
  readonly redirect?: 'manual' | 'follow' | 'error';
}

/** A request as the engine builds it. */
function request(
  { operation }: Step,
  path: string,
  { method = operation.method, body, redirect = 'manual', ...more }: Parts = {},
): Request {
  const url = new URL(path, TARGET);
  const headers = new Headers();
  const key = 'key' in more ? more.key : KEY;
  if (key !== undefined) for (const one of operation.security?.keys ?? []) attachCredential(one, key, { headers, query: url.searchParams });
  return new Request(url, { method, headers, redirect, ...(body !== undefined && { body }) });
}

/** Whether a guard sends a request. */
async function isLetOut(guard: Guard, wanted: Request): Promise<boolean> {
  const before = sent.length;
  try {
    await guard.send(wanted);
  } catch (error) {
    expect(error).toBeInstanceOf(RefusedRequestError);
    expect(error).toHaveProperty('name', 'RefusedRequestError');
    expect(String(error)).toContain(`${wanted.method} ${new URL(wanted.url).pathname} is not in the plan; it was not sent.`);
    expect(sent).toHaveLength(before);
    return false;
  }
  expect(sent).toHaveLength(before + 1);
  return true;
}

describe('sends a request only if all of it is in the plan', () => {
  const list = stepOf('listThings');
  const limited = stepOf('listThings', {
    parameters: {
      ...NO_PARAMETERS,
      query: [
        ['limit', '5'],
        ['sort', 'name'],
      ],
    },
  });
  const own = stepOf('getThing', { path: 'own' });
  const given = stepOf('getThing', { path: { id: '7' } });
  const found = stepOf('getThing', { path: 'found' });

  test.each<[string, Step, string, Parts, boolean]>([
    ['as planned', list, 'thing', {}, true],
    ['with redirects that are an error', list, 'thing', { redirect: 'error' }, true],
    ['with redirects that are followed', list, 'thing', { redirect: 'follow' }, false],
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].map((method): [string, Step, string, Parts, boolean] => [
      `with the method ${method}`,
      list,
      'thing',
      { method },
      false,
    ]),
    ['without a key', list, 'thing', { key: undefined }, false],
    ['with another key', list, 'thing', { key: `${KEY}2` }, false],
    ['without a key, where none is to be sent', stepOf('listThings', { credential: 'none' }), 'thing', { key: undefined }, true],
    ['with the key, where none is to be sent', stepOf('listThings', { credential: 'none' }), 'thing', {}, false],
    ['with a made-up key, where one is to be sent', stepOf('listThings', { credential: 'wrong' }), 'thing', { key: 'made-up' }, true],
    ['with the key, where a made-up one is to be sent', stepOf('listThings', { credential: 'wrong' }), 'thing', {}, false],
    ['where no key is needed', stepOf('open'), 'open', {}, true],
    ['with the key in the query', stepOf('byQuery'), 'by-query', {}, true],
    ['without the key in the query', stepOf('byQuery'), 'by-query', { key: undefined }, false],
    ['with the key in a cookie', stepOf('byCookie'), 'by-cookie', {}, true],
    ['with another key in a cookie', stepOf('byCookie'), 'by-cookie', { key: 'another' }, false],
    ['with a bearer token', stepOf('byBearer'), 'by-bearer', {}, true],
    ['with another bearer token', stepOf('byBearer'), 'by-bearer', { key: 'another' }, false],
    ['at another host', list, 'http://other.example/base/thing', {}, false],
    ['at another port', list, 'http://target.example:81/base/thing', {}, false],
    ['with another protocol', list, 'https://target.example/base/thing', {}, false],
    ['above the base address', list, '/thing', {}, false],
    ['next to the base address', list, '/base2/thing', {}, false],
    ['at the base address itself', list, '/base', {}, false],
    ['with two slashes', list, '/base//thing', {}, false],
    ['with a slash at its end', list, 'thing/', {}, false],
    ['of a resource that was found', found, 'thing/7', {}, true],
    ['of a resource whose identifier has a slash', found, 'thing/a%2Fb', {}, true],
    ['of the named resource', given, 'thing/7', {}, true],
    ['of the named resource, encoded', given, 'thing/%37', {}, true],
    ['of another resource than the named one', given, 'thing/8', {}, false],
    ['with a query that the plan does not have', list, 'thing?limit=5', {}, false],
    ['with its query', limited, 'thing?limit=5&sort=name', {}, true],
    ['with its query in another order', limited, 'thing?sort=name&limit=5', {}, true],
    ['with a part of its query', limited, 'thing?limit=5', {}, false],
    ['with more than its query', limited, 'thing?limit=5&sort=name&all=1', {}, false],
    ['with a parameter twice', limited, 'thing?limit=5&sort=name&limit=5', {}, false],
    ['with another value in its query', limited, 'thing?limit=6&sort=name', {}, false],
    ['with names and values exchanged', limited, 'thing?5=limit&sort=name', {}, false],
  ])('%s', async (_, step, path, parts, expected) => {
    expect(await isLetOut(guardOf([step]), request(step, path, parts))).toBe(expected);
  });

  test('of a step that the ownership of resources allows, with the path parameters of the request', async () => {
    const refusal = (_: Step, { id }: Readonly<Record<string, string>>) => (id === '7' ? undefined : 'it is foreign');
    const guard = guardOf([{ ...own, times: 9 }], { refusal });
    expect(await isLetOut(guard, request(own, 'thing/7'))).toBe(true);
    await expect(guard.send(request(own, 'thing/8'))).rejects.toThrow('GET /base/thing/8 was refused: it is foreign; it was not sent.');
  });

  test.each(['http://target.example', 'http://target.example/', 'http://target.example/base', 'http://target.example/base//'])(
    'with the base address %s',
    async (base) => {
      const target = new URL(base);
      const guard = guardOf([{ ...list, times: 9 }], { target });
      const path = `${target.pathname.replace(/\/+$/, '')}/thing`;
      expect(await isLetOut(guard, request(list, `http://target.example${path}`))).toBe(true);
      expect(await isLetOut(guard, request(list, `http://target.example/other${path}`))).toBe(false);
      // Another path with the length of the base path.
      const folder = target.pathname.replace(/\/+$/, '').replaceAll(/\w/g, 'x');
      if (folder !== '') expect(await isLetOut(guard, request(list, `http://target.example${folder}/thing`))).toBe(false);
    },
  );
});

describe('the next page', () => {
  const query = (value: string | undefined) => stepOf('listThings', { next: { in: 'query', field: 'offset', value } });
  /** The parameter of the page is among those of the step. */
  const limited = (value: string | undefined) => ({
    ...query(value),
    parameters: {
      ...NO_PARAMETERS,
      query: [
        ['limit', '5'],
        ['offset', '1'],
      ] as const,
    },
  });
  const form = (value: string | undefined) =>
    stepOf('search', { form: { values: { a: '1' }, isFromDocument: true, found: {} }, next: { in: 'form', field: 'offset', value } });

  test.each<[Step, string, Parts, boolean]>([
    [query('50'), 'thing?offset=50', {}, true],
    [query('50'), 'thing?offset=51', {}, false],
    [query('50'), 'thing', {}, false],
    [query('50'), 'thing?offset=50&offset=50', {}, false],
    [query('50'), 'thing?offset=50&limit=1', {}, false],
    [limited('50'), 'thing?limit=5&offset=50', {}, true],
    [limited('50'), 'thing?limit=5&offset=1', {}, false],
    [limited('50'), 'thing?limit=5', {}, false],
    [limited('50'), 'thing?offset=50', {}, false],
    [limited(undefined), 'thing?limit=5&offset=any', {}, true],
    [query(undefined), 'thing?offset=any', {}, true],
    [query(undefined), 'thing?offset=', {}, true],
    [query(undefined), 'thing', {}, false],
    [query(undefined), 'thing?offset=1&offset=2', {}, false],
    [form('50'), 'search', { body: 'a=1&offset=50' }, true],
    [form('50'), 'search', { body: 'a=1&offset=51' }, false],
    [form('50'), 'search', { body: 'a=1' }, false],
    [form(undefined), 'search', { body: 'a=1&offset=7' }, true],
    [form(undefined), 'search', { body: 'a=1' }, false],
    [form(undefined), 'search', { body: 'a=1&offset=7&b=2' }, false],
    [form('50'), 'search?offset=50', { body: 'a=1&offset=50' }, false],
  ])('%#', async (step, path, parts, expected) => {
    expect(await isLetOut(guardOf([step]), request(step, path, parts))).toBe(expected);
  });
});

describe('the body', () => {
  const form = stepOf('search', { form: { values: { a: 'x y', b: '1' }, isFromDocument: true, found: {} } });
  const json = stepOf('searchJson', { form: { values: { a: 'x y', b: '1' }, isFromDocument: true, found: {} } });
  const withFound = (id: string) => stepOf(id, { form: { values: { a: '1' }, isFromDocument: true, found: { id: 'id' } } });
  const empty = stepOf('search', { form: { values: {}, isFromDocument: true, found: {} } });

  test.each<[string, Step, string | undefined, boolean]>([
    ['a form as it is', form, 'a=x+y&b=1', true],
    ['a form with another value', form, 'a=x+y&b=2', false],
    ['a form with a further field', form, 'a=x+y&b=1&id=7', false],
    ['a form without a field', form, 'a=x+y', false],
    ['a form in another order', form, 'b=1&a=x+y', false],
    ['no form where there is one', form, undefined, false],
    ['a form where there is none', stepOf('search'), 'a=1', false],
    ['no form where there is none', stepOf('search'), undefined, true],
    ['an empty form', empty, '', true],
    ['JSON as it is', json, '{"a":"x y","b":"1"}', true],
    ['JSON with a number for a text', json, '{"a":"x y","b":1}', false],
    ['JSON with a space', json, '{"a":"x y", "b":"1"}', false],
    ['JSON twice', json, '{"a":"x y","b":"1"}{}', false],
    ['text for JSON', json, 'a=x+y&b=1', false],
    ['a form with an identifier that was found', withFound('search'), 'a=1&id=anything', true],
    ['a form with two identifiers', withFound('search'), 'a=1&id=7&id=8', false],
    ['a form without the identifier', withFound('search'), 'a=1', false],
    ['JSON with an identifier that was found', withFound('searchJson'), '{"a":"1","id":"7"}', true],
    ['JSON with a number for it', withFound('searchJson'), '{"a":"1","id":7}', true],
    ['JSON with an object for it', withFound('searchJson'), '{"a":"1","id":{"all":true}}', false],
    ['JSON with null for it', withFound('searchJson'), '{"a":"1","id":null}', false],
    ['JSON with a list for it', withFound('searchJson'), '{"a":"1","id":["7"]}', false],
  ])('%s', async (_, step, body, expected) => {
    const { path } = step.operation;
    expect(await isLetOut(guardOf([step]), request(step, path.slice(1), body === undefined ? {} : { body }))).toBe(expected);
  });
});

describe('limits the number of requests', () => {
  const list = stepOf('listThings');

  test.each([1, 2, 3])('sends a step %i times and refuses more', async (times) => {
    const guard = guardOf([{ ...list, times }]);
    for (let count = 0; count < times; count++) expect(await isLetOut(guard, request(list, 'thing'))).toBe(true);
    expect(await isLetOut(guard, request(list, 'thing'))).toBe(false);
  });

  test.each([
    [1, [429, 429, 429], 2],
    [2, [429, 429, 429, 429, 429], 4],
    [2, [200, 429, 200, 200], 3],
    [1, [428, 200], 1],
    [1, [430, 200], 1],
    [1, [503, 200], 1],
  ])('sends a step with the limit %i and the statuses %j %i times: retries each 429 once', async (times, replies, expected) => {
    statuses = [...replies];
    const guard = guardOf([{ ...list, times }]);
    for (let count = 0; count < 9; count++) await guard.send(request(list, 'thing')).catch(() => {});
    expect(sent).toHaveLength(expected);
  });

  test('limits the requests of an operation, and counts a retried request once', async () => {
    statuses = [429, 200, 200, 200];
    const guard = guardOf([{ ...list, times: 9 }], { mostPerOperation: 2 });
    for (let count = 0; count < 3; count++) await guard.send(request(list, 'thing'));
    await expect(guard.send(request(list, 'thing'))).rejects.toThrow('2 requests were sent for listThings; no more may leave.');
    expect(sent).toHaveLength(3);
  });
});

describe('a purchase', () => {
  const buy = stepOf('buy', { effect: 'costs', times: 9 });
  const TEN = 1_000_000_000n;
  const price = (gross: bigint) => () => ({ net: gross, gross, basis: 'a month' });

  test.each([
    [200, true],
    [201, true],
    [299, true],
    [300, false],
    [400, false],
    [429, false],
    [500, false],
  ])('with the status %i counts towards the budget: %s', async (status, counts) => {
    statuses = [status];
    const guard = guardOf([buy], { budget: { amount: TEN, unknown: 0 }, priceOf: price(TEN) });
    await guard.send(request(buy, 'buy'));
    expect(guard.spent()).toEqual({ amount: counts ? TEN : 0n, unknown: 0 });
    statuses = [200];
    const second = guard.send(request(buy, 'buy'));
    if (counts) await expect(second).rejects.toThrow('the budget of 10.00 would not suffice; it was not sent.');
    else expect((await second).status).toBe(200);
  });

  test('without a response counts towards the budget', async () => {
    const send = async () => Promise.reject(new Error('reset'));
    const guard = guardOf([buy], { budget: { amount: TEN, unknown: 0 }, priceOf: price(TEN), send });
    await expect(guard.send(request(buy, 'buy'))).rejects.toThrow('reset');
    expect(guard.spent()).toEqual({ amount: TEN, unknown: 0 });
  });

  test('with 429 is not retried, and a refused one counts neither as sent nor as spent', async () => {
    statuses = [429, 429, 429];
    const once = guardOf([{ ...buy, times: 1 }], { budget: { amount: 99n, unknown: 0 }, priceOf: price(1n) });
    await once.send(request(buy, 'buy'));
    expect(await isLetOut(once, request(buy, 'buy'))).toBe(false);
    const guard = guardOf([buy], { budget: { amount: TEN, unknown: 0 }, priceOf: price(TEN + 1n), mostPerOperation: 1 });
    for (let count = 0; count < 3; count++)
      await expect(guard.send(request(buy, 'buy'))).rejects.toThrow('the budget of 10.00 would not suffice');
    expect(guard.spent()).toEqual(NO_BUDGET);
  });

  test('of unknown price counts towards the number of such purchases', async () => {
    const guard = guardOf([buy], { budget: { amount: 0n, unknown: 2 } });
    for (let count = 0; count < 2; count++) await guard.send(request(buy, 'buy'));
    expect(guard.spent()).toEqual({ amount: 0n, unknown: 2 });
    await expect(guard.send(request(buy, 'buy'))).rejects.toThrow(
      'no more than 2 purchases of unknown price may succeed; it was not sent.',
    );
    statuses = [402];
    const other = guardOf([buy], { budget: { amount: 0n, unknown: 1 } });
    await other.send(request(buy, 'buy'));
    expect(other.spent()).toEqual(NO_BUDGET);
  });
});

describe('a read-only run', () => {
  const METHODS = ['get', 'head', 'options', 'trace', 'post', 'put', 'patch', 'delete'] as const;
  const FLAGS: readonly Readonly<Record<string, unknown>>[] = [
    {},
    { 'x-read-only': true },
    { 'x-read-only': false },
    { 'x-billable': true },
    { 'x-billable': true, 'x-read-only': true },
    { 'x-billable': false },
    { 'x-retry': 'safe' },
    { 'x-retry': 'never' },
  ];
  /** Whether an operation only reads, by its flags or else by its method. */
  const reads = (method: string, flags: Readonly<Record<string, unknown>>) =>
    flags['x-billable'] !== true &&
    (flags['x-read-only'] === true || (flags['x-read-only'] === undefined && ['get', 'head', 'options'].includes(method)));

  const cases = METHODS.flatMap((method) => FLAGS.map((flags, index) => ({ method, flags, id: `${method}-${index}` })));
  const flagged = parseDocument({
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: Object.fromEntries(cases.map(({ method, flags, id }) => [`/${id}`, { [method]: { operationId: id, responses, ...flags } }])),
  });
  const run = async (more: object) => {
    const requests: string[] = [];
    const send = async ({ method, url }: Request) => {
      requests.push(`${method} ${new URL(url).pathname.slice(1)}`);
      return new Response(null, { status: 204 });
    };
    await runContract({ document: flagged, target: new URL('http://target.example'), apiKey: KEY, send, ...more });
    return requests;
  };

  test('sends only an undescribed GET to an operation that changes something or costs money', async () => {
    const requests = await run({});
    const harmful = cases.filter(({ method, flags }) => !reads(method, flags));
    const sentTo = (id: string) => requests.filter((line) => line.endsWith(` ${id}`)).map((line) => line.split(' ')[0]);
    for (const { id, method } of harmful) expect([id, sentTo(id).filter((one) => one !== 'GET' || method === 'get')]).toEqual([id, []]);
    expect(requests).not.toEqual([]);
  });

  test('calls all read-only operations', async () => {
    const requests = new Set(await run({}));
    for (const { id, method, flags } of cases.filter((one) => one.method !== 'trace' && reads(one.method, one.flags)))
      expect([flags, requests.has(`${method.toUpperCase()} ${id}`)]).toEqual([flags, true]);
  });

  test('and a full run make purchases only when they are named', async () => {
    const billable = cases.filter(({ flags }) => flags['x-billable'] === true);
    const journal = { record: async () => {}, open: async () => [] };
    const requests = await run({ mode: 'full', journal });
    const purchases = new Set(billable.map(({ id, method }) => `${method.toUpperCase()} ${id}`));
    expect(requests.filter((line) => purchases.has(line))).toEqual([]);
    const named = 'post-3';
    const { steps } = await planContract({
      document: flagged,
      target: new URL('http://target.example'),
      apiKey: KEY,
      mode: 'full',
      journal,
      also: new Map([[named, undefined]]),
    });
    expect(
      new Set(steps.filter(({ effect }) => effect === 'costs').map(({ operation }: { operation: Operation }) => operation.id)),
    ).toEqual(new Set([named]));
  });
});
