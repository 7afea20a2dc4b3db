/** A call whose outcome is unknown, written down by one process and finished by another one. */
import { describe, expect, test } from 'vitest';

import { createReseller, OutcomeUnknownError } from '../src/index.ts';
import type { LostCall } from '../src/index.ts';
import { createClient, createVm } from '../src/operations.ts';
import { API_KEY, CREATED, envelope, refusal, reset, scripted, VM } from './scripted-service.ts';
import type { ScriptedService } from './scripted-service.ts';

async function lostBy(call: () => Promise<unknown>): Promise<OutcomeUnknownError> {
  const error = await call().catch((thrown: unknown) => thrown);
  if (!(error instanceof OutcomeUnknownError)) throw new Error('The response was not lost.', { cause: error });
  return error;
}

/** Loses the response to a purchase, and returns the error as the text of a file. */
async function written(service: ScriptedService): Promise<string> {
  await service.reseller.vm.hosts();
  service.plan(reset);
  const error = await lostBy(() => service.reseller.vm.create(VM, { maxRetries: 0, headers: { 'x-trace': 'secret of a header' } }));
  return JSON.stringify(error);
}

/** The client of another process: its clock began at another time, and it knows no earlier request. */
function later(service: ScriptedService, config: object = {}) {
  const { clock, fetch } = service;
  const others = { ...clock, now: () => clock.now() - 4_000_000 };
  return createReseller({ apiKey: API_KEY, baseUrl: 'http://reseller.test', fetch, clock: others, ...config });
}

const read = (text: string): LostCall => JSON.parse(text);

/** A `fetch` that loses each request to a path before it arrives. */
function losing(service: ScriptedService, path: string): ScriptedService['fetch'] {
  return (url, init) => (url.endsWith(path) ? Promise.reject(new TypeError('fetch failed')) : service.fetch(url, init));
}

describe('reconcile of an error that was written down', () => {
  test('sends the same request with the same key, and returns its response', async () => {
    const service = scripted({ lifetime: '86400' });
    const call = read(await written(service));
    expect(await later(service).reconcile(call)).toEqual({ outcome: 'committed', operation: 'createVm', data: CREATED, masked: [] });
    const [first, second] = service.sent;
    expect([service.sent.length, second?.key, second?.body]).toEqual([2, first?.key, first?.body]);
  });

  test('does not send a key again that the server may have forgotten', async () => {
    const service = scripted({ lifetime: '60' });
    const call = read(await written(service));
    service.advance(60_000);
    expect(await later(service).reconcile(call)).toMatchObject({ outcome: 'undecided', candidates: [] });
    expect(service.sent).toHaveLength(1);
  });

  test('asks beforeBillable with the form of the purchase', async () => {
    const asked: unknown[] = [];
    const service = scripted({ lifetime: '86400' });
    const call = read(await written(service));
    await later(service, { beforeBillable: (purchase: unknown) => void asked.push(purchase) }).reconcile(call);
    expect(asked).toEqual([{ operation: 'createVm', path: {}, form: VM }]);
  });

  test('takes no entry of the log for a purchase, because the earlier process may have made an identical one', async () => {
    const service = scripted();
    const call = read(await written(service));
    const [purchase] = service.sent;
    if (purchase) service.addEntry(purchase);
    expect(await later(service).reconcile(call)).toMatchObject({ outcome: 'undecided', candidates: [{ endpoint: '/vm/create' }] });
  });

  test.each<[string, (call: LostCall) => unknown]>([
    ['of another service', (call) => ({ ...call, url: 'http://other.test/vm/create' })],
    ['whose host continues that of the service', (call) => ({ ...call, url: 'http://reseller.test.evil.test/vm/create' })],
    ['without its form', (call) => ({ ...call, body: undefined })],
    ['without its time', (call) => ({ ...call, sentAt: 'yesterday' })],
    ['that is still text', (call) => JSON.stringify(call)],
    ['that is null', () => null],
  ])('refuses a value %s, and sends nothing', async (_, change) => {
    const service = scripted({ lifetime: '86400' });
    const value = change(read(await written(service)));
    await expect(Reflect.apply(later(service).reconcile, undefined, [value])).rejects.toThrow(TypeError);
    expect(service.sent).toHaveLength(1);
  });
});

describe('the value that is written down', () => {
  test('is small, says what happened, and has neither the API key nor the headers of the call', async () => {
    const text = await written(scripted());
    expect(text.length).toBeLessThan(1_200);
    expect(read(text)).toMatchObject({
      name: 'OutcomeUnknownError',
      message: expect.stringContaining('createVm: the outcome is unknown'),
      idempotencyKey: expect.any(String),
      body: 'cores=1&mem=1024&disk=10&os=debian_12&hostsystem=nl_ryzen',
      sentAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(text).not.toContain(API_KEY);
    expect(text).not.toContain('secret of a header');
  });

  test('has no secret of the form, so the request cannot be sent again, and the log decides', async () => {
    const service = scripted({ lifetime: '86400' });
    const sent: string[] = [];
    const fetch: typeof service.fetch = (url, init) => {
      if (!url.endsWith('/domain/register')) return service.fetch(url, init);
      sent.push(String(init.body));
      return Promise.reject(new TypeError('fetch failed'));
    };
    const form = { domain: 'reseller.test', handle: 'HDL-1', authcode: 'code-of-the-domain' };
    const error = await lostBy(() => later(service, { fetch }).domain.register(form, { maxRetries: 0 }));
    const text = JSON.stringify(error);
    expect(text).not.toContain(form.authcode);
    const response_body = JSON.stringify({ data: { domain: { name: form.domain } } });
    const entry = {
      endpoint: '/domain/register',
      method: 'PUT',
      response_body,
      request_body: JSON.stringify({ ...form, authcode: '***' }),
    };
    service.addEntry({ key: null, body: '', at: service.now() }, { ...entry, method: read(text).method });
    expect(await later(service, { fetch }).reconcile(read(text))).toMatchObject({ outcome: 'committed', operation: 'registerDomain' });
    expect(sent).toHaveLength(1);
  });
});

describe('reconcile with another API key', () => {
  const OTHER = 'key-of-another-account';

  test('of another account refuses the value, and buys nothing there', async () => {
    const service = scripted({ lifetime: '86400' });
    const other = scripted({ lifetime: '86400', config: { apiKey: OTHER } });
    const call = read(await written(service));
    expect(call.account).toMatch(/^[0-9a-f]{64}$/);
    const error = await other.reseller.reconcile(call).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain('The value is of another account');
    expect([service.sent.length, other.sent.length]).toEqual([1, 0]);
  });

  test('of the same account, after a rotation, leaves it to the log, which has an earlier request of the account', async () => {
    const service = scripted({ lifetime: '86400' });
    const call = read(await written(service));
    const [purchase] = service.sent;
    if (purchase) service.addEntry(purchase);
    const found = await later(service, { apiKey: OTHER }).reconcile(call);
    expect(found).toMatchObject({ outcome: 'undecided', candidates: [{ endpoint: '/vm/create' }] });
    expect(service.sent).toHaveLength(1);
  });

  test('commits what the log of the same account proves', async () => {
    const service = scripted({ lifetime: '86400' });
    await service.reseller.vm.hosts();
    const lost = await lostBy(() =>
      later(service, { fetch: losing(service, '/domain/register') }).domain.register(
        { domain: 'a.test', handle: 'HDL-1' },
        { maxRetries: 0 },
      ),
    );
    const call: LostCall = { ...read(JSON.stringify(lost)), earlier: read(await written(service)).earlier };
    const response_body = JSON.stringify({ data: { domain: { name: 'a.test' } } });
    const request_body = JSON.stringify({ domain: 'a.test', handle: 'HDL-1' });
    service.addEntry(
      { key: null, body: '', at: service.now() },
      { endpoint: '/domain/register', method: 'POST', request_body, response_body },
    );
    const entry = service.log[0];
    if (entry) Object.assign(entry, { method: call.method });
    expect(await later(service, { apiKey: OTHER }).reconcile(call)).toMatchObject({ outcome: 'committed', operation: 'registerDomain' });
  });

  test.each([
    ['no earlier request of the account is known', (call: LostCall): LostCall => ({ ...call, earlier: undefined })],
    ['the value does not name its account', (call: LostCall): LostCall => ({ ...call, account: undefined, earlier: undefined })],
  ])('decides nothing when %s', async (_, change) => {
    const service = scripted({ lifetime: '86400' });
    const call = change(read(await written(service)));
    expect(await later(service, { apiKey: OTHER }).reconcile(call)).toMatchObject({
      outcome: 'undecided',
      candidates: [],
      advice: expect.stringContaining('It was sent with another API key'),
    });
    expect(service.sent).toHaveLength(1);
  });

  test('asks no guard, because nothing is bought', async () => {
    const asked: unknown[] = [];
    const service = scripted({ lifetime: '86400' });
    const call = read(await written(service));
    await later(service, { apiKey: OTHER, beforeBillable: (purchase: unknown) => void asked.push(purchase) }).reconcile(call);
    expect(asked).toEqual([]);
  });
});

describe('an error of the program after it has sent a purchase', () => {
  const cyclic = new Error('its own cause');
  cyclic.cause = cyclic;
  const unreadable = {
    get status(): number {
      throw new Error('odd mock');
    },
  };
  /** A value that a mock in JavaScript returns in place of a response. */
  const oddResponse = async (value: object): Promise<Response> => Object(value);

  test.each<[string, () => Promise<Response>]>([
    ['something else', () => oddResponse({})],
    ['a response without a body', () => oddResponse({ status: 200, statusText: '', headers: {} })],
    ['a response whose status cannot be read', () => oddResponse(unreadable)],
    ['an error that is its own cause', () => Promise.reject(cyclic)],
    ['an error without a text', () => Promise.reject(Object.create(null))],
  ])('as by a fetch that gives %s, leaves the outcome unknown', async (_, reply) => {
    const service = scripted();
    const fetch: typeof service.fetch = (url, init) => (url.endsWith('/vm/create') ? reply() : service.fetch(url, init));
    const error = await lostBy(() => later(service, { fetch }).vm.create(VM, { maxRetries: 0 }));
    expect(error).toMatchObject({ uncertain: true, attempts: 1 });
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ operation: { id: 'createVm' } });
  });

  test('as by a clock that fails, leaves the outcome unknown, and its cause is the error', async () => {
    const service = scripted();
    let isBroken = false;
    const now = () => {
      if (isBroken) throw new Error('no clock');
      return service.clock.now();
    };
    const fetch: typeof service.fetch = (url, init) => {
      isBroken = url.endsWith('/vm/create');
      service.plan(refusal(503));
      return service.fetch(url, init);
    };
    const reseller = createClient({ apiKey: API_KEY, baseUrl: 'http://reseller.test', fetch, clock: { ...service.clock, now } });
    const error = await lostBy(async () => createVm({ client: reseller, body: VM }));
    expect(error).toMatchObject({ uncertain: true, attempts: 1, cause: { cause: { message: 'no clock' } } });
  });

  test('reads headers that are a plain object', async () => {
    const service = scripted();
    const fetch: typeof service.fetch = async (url, init) => {
      const response = await service.fetch(url, init);
      const { status, statusText } = response;
      return Reflect.apply(Object, undefined, [
        { status, statusText, headers: Object.fromEntries(response.headers), text: () => response.text() },
      ]);
    };
    expect(await later(service, { fetch }).vm.create(VM)).toEqual(CREATED);
  });

  test('does not need URL.parse for the name of a domain', async () => {
    const given = Object.getOwnPropertyDescriptor(URL, 'parse');
    Reflect.deleteProperty(URL, 'parse');
    try {
      const fetch = async () => Response.json(envelope({ domain: { name: 'xn--bcher-kva.test' } }));
      const reseller = createReseller({ apiKey: API_KEY, baseUrl: 'http://reseller.test', fetch });
      expect(await reseller.domain.register({ domain: 'bücher.test', handle: 'HDL-1' })).toMatchObject({
        domain: { name: 'xn--bcher-kva.test' },
      });
    } finally {
      if (given) Object.defineProperty(URL, 'parse', given);
    }
  });
});
