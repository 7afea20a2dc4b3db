/**
 * Two equal calls of each operation that must not take effect twice: the first is answered, and the second is lost. Another process reconciles its
 * JSON value. The operations, their inputs and their responses are those of the document.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { parseDocument, readOperations, repeatsOf } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import { describe, expect, test } from 'vitest';

import { follow, items, members } from '../generate/json.ts';
import { createReseller, OutcomeUnknownError } from '../src/extension.ts';
import type { Fetch, LostCall, Reseller } from '../src/extension.ts';
import { EXTENSION_PLACES, PLACES } from '../src/places.ts';
import type { Places } from '../src/places.ts';
import { API_KEY, envelope } from './scripted-service.ts';

const document = parseDocument(JSON.parse(readFileSync(new URL('../../../openapi/generated/service.json', import.meta.url), 'utf8')));
const operations = readOperations(document).filter(({ retry }) => retry === 'never');
const marks = (operation: Operation) => members(follow(document, { $ref: `#${operation.pointer}` }));

/** The names that lead to an operation in the groups of a client. */
function placeOf(id: string, places: Places): readonly string[] | undefined {
  for (const [name, place] of Object.entries(places)) {
    if (place === id) return [name];
    const inner = typeof place === 'string' ? undefined : placeOf(id, place);
    if (inner) return [name, ...inner];
  }
  return undefined;
}

function exampleIn(content: unknown): unknown {
  const { examples, example } = members(follow(document, content));
  const [first] = Object.values(members(examples));
  return first === undefined ? example : members(follow(document, first))['value'];
}

/** The path, the form and the data of the response in the examples of the document, where the response repeats the request. */
function inputOf(operation: Operation) {
  const path = operation.parameters.filter((each) => each.in === 'path');
  const texts = path.map(({ pointer = '' }) => {
    const parameter = members(follow(document, { $ref: `#${pointer.replace(/\/schema$/, '')}` }));
    return String(parameter['example'] ?? items(members(follow(document, { $ref: `#${pointer}` }))['examples'])[0]);
  });
  const [content] = Object.values(members(members(follow(document, marks(operation)['requestBody']))['content']));
  const form = members(exampleIn(content));
  const response = members(follow(document, members(marks(operation)['responses'])['200']));
  const data: unknown = structuredClone(members(exampleIn(members(response['content'])['application/json']))['data']);
  const values = { ...Object.fromEntries(path.map(({ name }, index) => [name, texts[index]])), ...form };
  for (const { name, path: way } of repeatsOf(document, operation)) {
    const [last = '', ...above] = way.slice(1).toReversed();
    const holder = above.toReversed().reduce<unknown>((inner, key) => Object(inner)[key], data);
    const value: unknown = Reflect.get(values, name);
    if (value !== undefined && String(Reflect.get(Object(holder), last)) !== String(value))
      Object.assign(Object(holder), { [last]: value });
  }
  return { texts, form, hasForm: operation.form !== undefined, data };
}

/** A service whose second call is lost, before it arrives or after it was carried out. */
function serviceOf(operation: Operation, { honours, names, arrives }: Kind) {
  const { texts, form, hasForm, data } = inputOf(operation);
  const log: object[] = [];
  const kept = new Map<string, object>();
  let time = Date.UTC(2026, 10, 28);
  let calls = 0;
  let ids = 0;
  const headers = new Headers(honours ? { 'idempotency-key-lifetime': '86400' } : {});
  const fetch: Fetch = async (url, init) => {
    time += 10;
    const endpoint = new URL(url).pathname;
    const requestID = `id-${++ids}`;
    const key = new Headers(init.headers).get('idempotency-key');
    const entry = { requestID, requestDate: new Date(time).toISOString(), endpoint, method: init.method, success: 1, error_type: null };
    const written = { ...entry, ...(names && { idempotency_key_hash: key === null ? null : hash('sha256', key) }) };
    if (endpoint === '/account/requests') return Response.json(envelope(log.toReversed(), { requestID: null }), { headers });
    if (init.method === 'GET') {
      log.push({ ...written, request_body: '{}', response_body: '{}' });
      return Response.json(envelope({ list: [] }, { requestID }), { headers });
    }
    const isLost = ++calls === 2;
    if (isLost && !arrives) throw new TypeError('fetch failed');
    const isRepetition = honours && kept.has(key ?? '');
    const body = (isRepetition ? kept.get(key ?? '') : undefined) ?? envelope(data, { requestID });
    if (!isRepetition) kept.set(key ?? '', body);
    const request_body = JSON.stringify(Object.fromEntries(new URLSearchParams(String(init.body ?? ''))));
    log.push({ ...written, request_body, response_body: JSON.stringify(body) });
    if (isLost) throw new TypeError('fetch failed');
    return Response.json(body, { headers });
  };
  function client() {
    const clock = { now: () => time, date: () => time, sleep: async (milliseconds: number) => void (time += milliseconds) };
    return createReseller({ apiKey: API_KEY, baseUrl: 'http://reseller.test', fetch, clock, maxRetries: 0 });
  }
  const place = placeOf(operation.id, PLACES) ?? placeOf(operation.id, EXTENSION_PLACES) ?? [];
  function call(reseller: Reseller): Promise<unknown> {
    const method = place.reduce<unknown>((group, name) => Object(group)[name], reseller);
    if (typeof method !== 'function') throw new Error(`The client has no method for ${operation.id}.`);
    return Reflect.apply(method, undefined, [...texts, ...(hasForm ? [form] : [])]);
  }
  return { client, call, carriedOut: () => kept.size };
}

interface Kind {
  readonly honours: boolean;
  /** Whether the log names keys. */
  readonly names: boolean;
  /** Whether the second call arrives. */
  readonly arrives: boolean;
}

async function loseTheSecond({ client, call }: ReturnType<typeof serviceOf>): Promise<LostCall> {
  const reseller = client();
  await call(reseller);
  const error = await call(reseller).catch((thrown: unknown) => thrown);
  if (!(error instanceof OutcomeUnknownError)) throw new Error('The second call was not lost.', { cause: error });
  return JSON.parse(JSON.stringify(error));
}

test('the document has more than 40 such operations, of which 9 cost money', () => {
  expect(operations.length).toBeGreaterThan(40);
  expect(operations.filter(({ billable }) => billable)).toHaveLength(9);
});

describe.each(operations.map((operation) => [operation.id, operation] as const))('%s', (_, operation) => {
  const isProvable = typeof marks(operation)['x-evidence'] === 'string';

  test.each([
    [true, 'committed'],
    [false, 'undecided'],
  ])('with a log that names keys: the second call, which arrived (%s), is %s', async (arrives, outcome) => {
    const service = serviceOf(operation, { honours: false, names: true, arrives });
    const lost = await loseTheSecond(service);
    const carriedOut = service.carriedOut();
    expect(await service.client().reconcile(lost)).toMatchObject({ outcome });
    expect([carriedOut, service.carriedOut()]).toEqual(arrives ? [2, 2] : [1, 1]);
  });

  test('with a service that honours keys: the second call is carried out once, whether it arrived or not', async () => {
    for (const arrives of [true, false]) {
      const service = serviceOf(operation, { honours: true, names: false, arrives });
      const lost = await loseTheSecond(service);
      const found = await service.client().reconcile(lost);
      // A form with secrets or personal data cannot be sent again from its JSON value.
      expect(found.outcome).toBe(JSON.stringify(lost.form).includes('***') ? (isProvable ? 'committed' : 'undecided') : 'committed');
    }
  });

  test(`without keys: the entry of the first call ${isProvable ? 'proves the second, which can only be the same' : 'proves nothing'}`, async () => {
    const service = serviceOf(operation, { honours: false, names: false, arrives: false });
    const found = await service.client().reconcile(await loseTheSecond(service));
    expect(found.outcome).toBe(isProvable ? 'committed' : 'undecided');
    if (found.outcome === 'undecided') expect(found.candidates).toMatchObject([{ success: 1 }]);
  });
});
