/** The effects of the options of a client and of its calls on requests, events and results. */
import { describe, expect, test } from 'vitest';

import { createReseller, OutcomeUnknownError, redact } from '../src/index.ts';
import type { ClientEvent, Fetch, Middleware } from '../src/index.ts';
import { createClient, listDomains } from '../src/operations.ts';
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
  test.each([
    [undefined, /^reseller-client\/\d+\.\d+\.\d+$/],
    [{ name: 'shop', version: '2.1' }, /^reseller-client\/\d+\.\d+\.\d+ shop\/2\.1$/],
    [{ name: 'shop', version: '2.1', url: 'https://shop.test' }, /^reseller-client\/\d+\.\d+\.\d+ shop\/2\.1 \(https:\/\/shop\.test\)$/],
  ])('name the client and the program %j', async (appInfo, expected) => {
    const { headers, fetch } = recordingFetch();
    await createReseller({ ...CONNECTION, fetch, appInfo }).domain.list();
    await listDomains(createClient({ ...CONNECTION, fetch, appInfo }));
    for (const each of headers) expect(each.get('user-agent')).toMatch(expected);
    expect(headers).toHaveLength(2);
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

describe('withOptions', () => {
  test('keeps the options that it does not change', async () => {
    const { headers, fetch } = recordingFetch();
    const patient = createReseller({ ...CONNECTION, fetch, headers: { 'x-a': '1' } }).withOptions({
      appInfo: { name: 'shop', version: '1' },
    });
    await patient.domain.list();
    await patient.withOptions({ headers: { 'x-b': '2' } }).domain.list();
    expect(headers.map((each) => [each.get('x-a'), each.get('x-b'), each.get('user-agent')?.endsWith(' shop/1')])).toEqual([
      ['1', null, true],
      [null, '2', true],
    ]);
  });

  test('shares the budget, the lost purchases, and whether the server honours idempotency keys', async () => {
    const service = scripted({ lifetime: '3600', config: { budget: { limit: 1 } } });
    const other = service.reseller.withOptions({ maxRetries: 0 });
    await service.reseller.domain.list();
    service.plan(reset);
    const error: unknown = await other.vm.create(VM).catch((thrown: unknown) => thrown);
    if (!(error instanceof OutcomeUnknownError)) throw error;
    await expect(service.reseller.vm.create(VM)).rejects.toMatchObject({ name: 'SpendRefusedError' });
    expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed' });
    expect(service.logReadings()).toBe(0);
  });

  test('refuses an unknown option', () => {
    const { reseller } = scripted();
    expect(() => Reflect.apply(reseller.withOptions, undefined, [{ timeout: 5 }])).toThrow(
      /^withOptions has no option timeout\. Its options are apiKey, baseUrl,/,
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
    expect(events[3]).toMatchObject({ status: 200, requestID: 'entry-1' });
  });

  test('about data call onDrift with the values that the service sent', async () => {
    const seen: unknown[] = [];
    const { fetch } = recordingFetch();
    await createReseller({ ...CONNECTION, fetch, onDrift: (...input) => void seen.push(input) }).domain.list();
    await Promise.resolve();
    expect(seen).toEqual([['listDomains', { list: [] }]]);
  });
});

test('redact masks secrets by name at any depth, and keeps null and other values that say that there is none', () => {
  const given = { password: 'a', config: [{ authcode: 'b', name: 'c' }], otp_code: null, invoice: '' };
  expect(redact(given)).toEqual({ password: '***', config: [{ authcode: '***', name: 'c' }], otp_code: null, invoice: '' });
  expect(given.password).toBe('a');
  expect(redact(undefined)).toBeNull();
});

test('dates turns the instants of the response into dates', async () => {
  const entry = { requestID: 'a', requestDate: '2026-11-22T00:00:00Z', success: 1 };
  const fetch: Fetch = async () => Response.json(envelope([entry]));
  const read = async (dates: boolean) => (await createReseller({ ...CONNECTION, fetch, dates }).account.requests())[0]?.requestDate;
  expect([await read(true), await read(false)]).toEqual([new Date('2026-11-22T00:00:00Z'), '2026-11-22T00:00:00Z']);
});
