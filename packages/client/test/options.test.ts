/** The effects of the options of a client and of its calls on requests, events and results. */
import { describe, expect, test } from 'vitest';

import { createReseller, OutcomeUnknownError, redact } from '../src/index.ts';
import type { ClientEvent, Fetch, Middleware, ReconcileOptions, RequestOptions, ResellerOptions } from '../src/index.ts';
import { createClient, createVm, listDomains } from '../src/operations.ts';
import { envelope, reset, scripted, VM } from './scripted-service.ts';

const CONNECTION = { apiKey: 'key', baseUrl: 'http://a.test' };

/** A `fetch` that keeps the headers of each request. */
function recordingFetch(): { readonly headers: Headers[]; readonly fetch: Fetch } {
  const headers: Headers[] = [];
  const fetch: Fetch = async (_, init) => {
    headers.push(new Headers(init.headers));
    return Response.json(envelope({ list: [] }));
  };
  return { headers, fetch };
}

describe('headers', () => {
  test('name the client', async () => {
    const { headers, fetch } = recordingFetch();
    await createReseller({ ...CONNECTION, fetch }).domain.list();
    await listDomains({ client: createClient({ ...CONNECTION, fetch }) });
    expect(headers.map((each) => each.get('user-agent'))).toEqual(Array(2).fill(expect.stringMatching(/^reseller-client\/\d+\.\d+\.\d+$/)));
  });

  test('may be Headers, whose names are not case-sensitive', async () => {
    const { headers, fetch } = recordingFetch();
    const reseller = createReseller({ ...CONNECTION, fetch, headers: new Headers({ 'User-Agent': 'own', 'X-A': '1' }) });
    await Reflect.apply(reseller.vm.reinstall, undefined, [12_345, undefined, { headers: new Headers({ 'x-a': '2' }) }]).catch(() => {});
    expect(headers.map((each) => ['user-agent', 'x-a', 'content-type'].map((name) => each.get(name)))).toEqual([
      ['own', '2', 'application/x-www-form-urlencoded'],
    ]);
  });

  test('of a call replace those of the client, and those of the client replace those of the package', async () => {
    const { headers, fetch } = recordingFetch();
    const reseller = createReseller({ ...CONNECTION, fetch, headers: { 'x-a': 'client', 'x-b': 'client', 'user-agent': 'own' } });
    await reseller.domain.list({ headers: { 'x-b': 'call' } });
    expect(headers.map((each) => ['x-a', 'x-b', 'user-agent', 'x-service-apikey'].map((name) => each.get(name)))).toEqual([
      ['client', 'call', 'own', 'key'],
    ]);
  });
});

test('wraps fetch in the middleware, with the first one outermost', async () => {
  const order: string[] = [];
  const around =
    (name: string): Middleware =>
    (next) =>
    async (url, init) => {
      order.push(`${name} before`);
      const response = await next(url, init);
      order.push(`${name} after`);
      return response;
    };
  const fetch: Fetch = async () => {
    order.push('fetch');
    return Response.json(envelope({ list: [] }));
  };
  await createReseller({ ...CONNECTION, fetch, middleware: [around('outer'), around('inner')] }).domain.list();
  expect(order).toEqual(['outer before', 'inner before', 'fetch', 'inner after', 'outer after']);
});

test('gives the middleware of each attempt the headers of the call, without those that it added to the attempt before', async () => {
  const seen: (string | null)[] = [];
  const append: Middleware = (next) => (url, init) => {
    if (init.headers instanceof Headers) init.headers.append('x-trace', 'one');
    seen.push(new Headers(init.headers).get('x-trace'));
    return next(url, init);
  };
  const { fetch, clock } = scripted();
  const unavailable: Middleware = () => async () => new Response('<html>', { status: 503 });
  const reseller = createReseller({ apiKey: 'key', baseUrl: 'http://a.test', fetch, clock, middleware: [append, unavailable] });
  await reseller.vm.hosts().catch(() => {});
  expect(seen).toEqual(['one', 'one', 'one']);
});

test.each([[{ body: VM }], []])('a single function without a client says that it needs one: createVm(%j)', async (...input) => {
  expect(() => Reflect.apply(createVm, undefined, input)).toThrow(
    new TypeError('The client is missing. Pass what createClient returned: { client, … }.'),
  );
});

describe('withOptions', () => {
  test('keeps the options that it does not change', async () => {
    const { headers, fetch } = recordingFetch();
    const patient = createReseller({ ...CONNECTION, fetch, headers: { 'x-a': '1' } }).withOptions({ maxRetries: 5 });
    await patient.domain.list();
    await patient.withOptions({ headers: { 'x-b': '2' } }).domain.list();
    expect(headers.map((each) => [each.get('x-a'), each.get('x-b')])).toEqual([
      ['1', null],
      [null, '2'],
    ]);
  });

  test('shares the lost purchases, and whether the server honours idempotency keys', async () => {
    const service = scripted({ lifetime: '3600' });
    const other = service.reseller.withOptions({ maxRetries: 0 });
    await service.reseller.domain.list();
    service.plan(reset);
    const error: unknown = await other.vm.create(VM).catch((thrown: unknown) => thrown);
    if (!(error instanceof OutcomeUnknownError)) throw error;
    expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed' });
    expect(service.logReadings()).toBe(0);
  });

  test('applies a guard to the purchases of the new client', async () => {
    const { reseller, sent } = scripted();
    const beforeBillable = () => {
      throw new Error('not today');
    };
    await expect(reseller.withOptions({ beforeBillable }).vm.create(VM)).rejects.toMatchObject({ name: 'SpendRefusedError' });
    expect(sent).toEqual([]);
  });

  test('refuses an unknown option', () => {
    const { reseller } = scripted();
    expect(() => Reflect.apply(reseller.withOptions, undefined, [{ timeout: 5 }])).toThrow(
      /^withOptions has no option timeout\. Its options are fetch, middleware,/,
    );
  });
});

describe('events', () => {
  test('have the time since their own attempt began, and the delay until the next attempt', async () => {
    const events: ClientEvent[] = [];
    const took = [70, 30];
    const service = scripted({
      config: {
        onEvent: (event) => void events.push(event),
        middleware: [
          (next) => async (url, init) => {
            const milliseconds = took.shift() ?? 0;
            service.advance(milliseconds);
            return milliseconds === 70 ? new Response('', { status: 503, headers: { 'retry-after': '5' } }) : next(url, init);
          },
        ],
      },
    });
    await service.reseller.domain.list();
    expect(events.map(({ type, attempt, milliseconds }) => [type, attempt, milliseconds])).toEqual([
      ['request', 1, 0],
      ['failure', 1, 70],
      ['request', 2, 0],
      ['response', 2, 30],
    ]);
    expect(events[1]).toMatchObject({
      delay: 5_000,
      error: { name: 'ResponseError' },
      operation: 'listDomains',
      billable: false,
      method: 'GET',
    });
    expect(events[3]).toMatchObject({ status: 200, requestID: expect.stringMatching(/^entry-\d+$/) });
  });
});

test('redact masks secrets by name at any depth, and keeps null and other values that say that there is none', () => {
  const given = { password: 'a', config: [{ authcode: 'b', name: 'c' }], otp_code: null, invoice: '' };
  expect(redact(given)).toEqual({ password: '***', config: [{ authcode: '***', name: 'c' }], otp_code: null, invoice: '' });
  expect(given.password).toBe('a');
  expect(redact(undefined)).toBeNull();
});

test.each<[string, object]>([
  ['Set either baseUrl or environment. They name two addresses.', { environment: 'sandbox' }],
  ['The apiKey is undefined. Leave the option out to use the environment variable RESELLER_API_KEY.', { apiKey: undefined }],
  ['middleware must be an array of functions, got () => {}.', { middleware: () => {} }],
  ['fetch must be a function, got "fetch".', { fetch: 'fetch' }],
  ['readOnly must be true or false, got "yes".', { readOnly: 'yes' }],
  ['deadlineMs must be a positive number of milliseconds, got 0.', { deadlineMs: 0 }],
  ['createReseller has no option budget. Its options are apiKey,', { budget: { limit: 1 } }],
])('createReseller refuses an option that it cannot use: %s', (message, options) => {
  expect(() => Reflect.apply(createReseller, undefined, [{ ...CONNECTION, ...options }])).toThrow(message);
});

test('each option that a type has is accepted', async () => {
  const { signal } = new AbortController();
  const limits = { timeoutMs: 60_000, maxRetries: 0, headers: {} };
  const logger = { error() {}, warn() {}, info() {}, debug() {} };
  const changeable: Required<ResellerOptions> = {
    ...limits,
    deadlineMs: 60_000,
    fetch: recordingFetch().fetch,
    middleware: [],
    readOnly: false,
    beforeBillable() {},
    onEvent() {},
    logger,
    logLevel: 'off',
  };
  const { reseller, plan } = scripted();
  const clock = { now: Date.now, sleep: async () => {} };
  createReseller({ ...changeable, ...CONNECTION, environment: undefined, honoursIdempotencyKey: true, clock });
  const ofCall: Required<RequestOptions> = { ...limits, deadlineMs: 60_000, signal, idempotencyKey: 'key' };
  plan(reset);
  const error = await reseller.vm.create(VM, ofCall).catch((thrown: unknown) => thrown);
  if (!(error instanceof OutcomeUnknownError)) throw error;
  const ofReconcile: Required<ReconcileOptions> = { ...limits, signal, waitMs: 1, resend: false };
  expect(await reseller.withOptions(changeable).reconcile(error, ofReconcile)).toMatchObject({ outcome: 'undecided' });
});

describe('a value that no option can have', () => {
  const unusable: readonly (readonly [string, object])[] = [
    ['maxRetries must be a whole number from 0, got -1.', { maxRetries: -1 }],
    ['timeoutMs must be a positive number of milliseconds, got "5".', { timeoutMs: '5' }],
    ['headers must be an object, got "x: y".', { headers: 'x: y' }],
  ];

  test.each(unusable)('is refused by createReseller, withOptions and a call, which sends nothing: %s', (message, options) => {
    const { reseller, sent, count } = scripted();
    expect(() => Reflect.apply(createReseller, undefined, [{ ...CONNECTION, ...options }])).toThrow(message);
    expect(() => reseller.withOptions(options)).toThrow(message);
    expect(() => Reflect.apply(reseller.vm.create, undefined, [VM, options])).toThrow(message);
    expect(() => Reflect.apply(reseller.domain.list, undefined, [options])).toThrow(message);
    expect(() => Reflect.apply(reseller.request, undefined, ['GET', '/domain/list', {}, options])).toThrow(message);
    expect(() => Reflect.apply(createClient, undefined, [{ ...CONNECTION, ...options }])).toThrow(message);
    expect([sent.length, count('/domain/list')]).toEqual([0, 0]);
  });

  test('is refused if it names an option of another place', () => {
    const { reseller } = scripted();
    for (const options of [{ apiKey: 'other' }, { baseUrl: 'http://b.test' }, { environment: 'live' }, { honoursIdempotencyKey: true }])
      expect(() => Reflect.apply(reseller.withOptions, undefined, [options])).toThrow(/^withOptions has no option/);
    expect(() => Reflect.apply(reseller.domain.list, undefined, [{ readOnly: true }])).toThrow(
      /^A call has no option readOnly\. Its options are signal,/,
    );
  });
});

test('a base address may be a URL', async () => {
  const { url } = await createReseller({ apiKey: 'key', baseUrl: new URL('https://a.test/v1/') }).dryRun((api) => api.vm.hosts());
  expect(url).toBe('https://a.test/v1/vm/list/hosts');
});

test('the deadline of a call ends its attempts and the pauses between them', async () => {
  const service = scripted({ config: { middleware: [() => async () => new Response('', { status: 503 })], maxRetries: 100 } });
  const began = service.now();
  await expect(service.reseller.domain.list({ deadlineMs: 10_000 })).rejects.toMatchObject({ name: 'ResponseError' });
  expect(service.now() - began).toBeLessThanOrEqual(10_000);
  expect(service.now() - began).toBeGreaterThan(2_000);
});

test('an error that the deadline causes names whole milliseconds', async () => {
  const fetch: Fetch = (_, { signal }) => new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  const client = createReseller({ apiKey: 'key', baseUrl: 'http://a.test', fetch, deadlineMs: 20 });
  await expect(client.vm.hosts()).rejects.toThrow('listVmHosts: no complete response within 20 ms');
});

test('a clock may be an object with a state', async () => {
  class SteppedClock {
    #milliseconds = 0;
    now() {
      return this.#milliseconds;
    }
    date() {
      return this.#milliseconds;
    }
    async sleep(milliseconds: number) {
      this.#milliseconds += milliseconds;
    }
  }
  const { headers, fetch } = recordingFetch();
  await createReseller({ ...CONNECTION, fetch, clock: new SteppedClock() }).domain.list();
  expect(headers).toHaveLength(1);
});

test('request sends a path and fields that the document does not know, and counts as a purchase', async () => {
  const sent: unknown[] = [];
  const fetch: Fetch = async (url, { method, body }) => {
    sent.push([method, url, body]);
    return Response.json(envelope({ list: ['a'] }));
  };
  const asked: unknown[] = [];
  const reseller = createReseller({ ...CONNECTION, fetch, beforeBillable: (purchase) => void asked.push(purchase) });
  expect(await reseller.request('GET', '/vm/new')).toEqual({ list: ['a'] });
  await reseller.request('PUT', '/vm/create', { cores: 1, brand_new: 'x' });
  expect(sent).toEqual([
    ['GET', 'http://a.test/vm/new', null],
    ['PUT', 'http://a.test/vm/create', 'cores=1&brand_new=x'],
  ]);
  expect(asked).toEqual([{ operation: 'PUT /vm/create', path: {}, form: { cores: 1, brand_new: 'x' } }]);
  await expect(createReseller({ ...CONNECTION, fetch, readOnly: true }).request('PUT', '/vm/create')).rejects.toThrow('read-only');
});
