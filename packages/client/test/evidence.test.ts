/** What counts as evidence of a purchase: a response that fits the request, and an entry of the log that only this request can have left. */
import { describe, expect, test } from 'vitest';

import { createReseller, OutcomeUnknownError } from '../src/index.ts';
import type { Fetch, Middleware } from '../src/index.ts';
import { API_KEY, CREATED, envelope, refusalBody, reset, scripted, VM } from './scripted-service.ts';

async function lostBy(call: () => Promise<unknown>): Promise<OutcomeUnknownError> {
  const error = await call().catch((thrown: unknown) => thrown);
  if (!(error instanceof OutcomeUnknownError)) throw new Error('The response was not lost.', { cause: error });
  return error;
}

describe('the response to a purchase', () => {
  const domainOf = (name: string | null) => envelope({ domain: name === null ? null : { name } });

  test.each<[string, object]>([
    ['a VM with other cores', envelope({ ...CREATED, config: { ...CREATED.config, cores: 32 } })],
    ['a VM with other memory', envelope({ ...CREATED, config: { ...CREATED.config, mem: 2048 } })],
    ['a dedicated server', envelope({ identifier: '4d8e2b71-0c5f-4a96-9e13-b7a25f60d8c4', renew_date: '2026-05-01' })],
    ['no identifier', envelope({ ...CREATED, identifier: null })],
    ['an identifier that no VM has', envelope({ ...CREATED, identifier: 1 })],
    ['no configuration', envelope({ identifier: CREATED.identifier })],
    ['no memory', envelope({ ...CREATED, config: { ...CREATED.config, mem: undefined } })],
    ['no requestID', envelope(CREATED, { requestID: null })],
  ])('that has %s leaves the outcome of createVm unknown', async (_, body) => {
    const service = scripted();
    service.plan(() => Response.json(body));
    expect(await lostBy(() => service.reseller.vm.create(VM))).toMatchObject({ uncertain: true, cause: { name: 'ResponseError' } });
    expect(service.sent).toHaveLength(1);
  });

  test.each<[string, string, object]>([
    ['another domain', 'reseller.test', domainOf('other.test')],
    ['no domain', 'reseller.test', domainOf(null)],
    ['a name that no host can have', 'reseller.test', domainOf('bü cher.test')],
  ])('that has %s leaves the outcome of registerDomain unknown', async (_, domain, body) => {
    const reseller = answering(body);
    expect(await lostBy(() => reseller.domain.register({ domain, handle: 'HDL-1' }))).toMatchObject({ uncertain: true });
  });

  test.each([
    ['reseller.test', 'reseller.test'],
    ['RESELLER.test', 'reseller.test'],
    ['bücher.test', 'xn--bcher-kva.test'],
  ])('to the registration of %s may name %s', async (domain, name) => {
    expect(await answering(domainOf(name)).domain.register({ domain, handle: 'HDL-1' })).toMatchObject({ domain: { name } });
  });

  test.each([402, 404, 409, 501])('with status %i and without requestID does not come from the service', async (status) => {
    const service = scripted();
    service.plan(() => Response.json({ ...refusalBody('not_found'), requestID: null }, { status }));
    expect(await lostBy(() => service.reseller.vm.create(VM))).toMatchObject({ cause: { reason: 'no-envelope', status } });
  });

  test('of an operation without requestID is complete', async () => {
    const otp = { note: 'valid for ten minutes' };
    expect(await answering(envelope(otp, { requestID: null })).account.createOtp()).toEqual(otp);
  });

  function answering(body: object) {
    return createReseller({ apiKey: API_KEY, baseUrl: 'http://reseller.test', fetch: async () => Response.json(body) });
  }
});

describe('a middleware that changes the key', () => {
  const withKey = (change: (headers: Headers) => void): Middleware => {
    return (next) => (url, init) => {
      const headers = new Headers(init.headers);
      change(headers);
      return next(url, { ...init, headers });
    };
  };
  const REFUSED = 'A middleware must not change the Idempotency-Key';

  test.each<[string, Middleware]>([
    ['replaces it', withKey((headers) => headers.set('idempotency-key', 'another'))],
    ['removes it', withKey((headers) => headers.delete('Idempotency-Key'))],
    ['replaces it and the signal', (next) => (url) => next(url, { method: 'PUT', headers: { 'IDEMPOTENCY-KEY': 'x' } })],
  ])('%s: nothing is sent, so the error names no other key than was on the wire', async (_, middleware) => {
    const service = scripted({ lifetime: '60', config: { middleware: [middleware], maxRetries: 0 } });
    const error: unknown = await service.reseller.vm.create(VM, { idempotencyKey: 'order-4711' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'ConnectionError', uncertain: false, message: expect.stringContaining(REFUSED) });
    expect(service.sent).toEqual([]);
  });

  test('on the second attempt: the outcome is that of the first one, under its key', async () => {
    let attempts = 0;
    const middleware = withKey((headers) => void (++attempts > 1 && headers.set('Idempotency-Key', 'another')));
    const service = scripted({ lifetime: '60', config: { middleware: [middleware] } });
    await service.reseller.vm.hosts();
    attempts = 0;
    service.plan(reset);
    const error = await lostBy(() => service.reseller.vm.create(VM, { idempotencyKey: 'order-4711' }));
    expect(error).toMatchObject({ idempotencyKey: 'order-4711', curl: expect.stringContaining("'Idempotency-Key: order-4711'") });
    expect(service.sent.map(({ key }) => key)).toEqual(['order-4711']);
  });

  test('is not one that adds headers and a signal of its own', async () => {
    const middleware: Middleware = (next) => (url, init) => next(url, { ...init, signal: AbortSignal.timeout(60_000) });
    const service = scripted({ config: { middleware: [middleware, withKey((headers) => headers.set('x-trace', '1'))] } });
    await service.reseller.vm.create(VM);
    expect(service.sent).toHaveLength(1);
  });
});

describe('an entry of the log that names no key', () => {
  const DOMAIN = { domain: 'reseller.test', handle: 'HDL-1' };
  const ofDomain = (name: string) => ({ response_body: JSON.stringify(envelope({ domain: { name } })) });

  test('proves a request of which only one can succeed, on a busy account', async () => {
    const { reseller, log } = losingDomains();
    const error = await lostBy(() => reseller.domain.register(DOMAIN));
    log({ request_body: JSON.stringify({ ...DOMAIN, domain: 'other.test' }), ...ofDomain('other.test') });
    log({});
    expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'committed', data: { domain: { name: 'reseller.test' } } });
  });

  test.each<[string, object]>([
    [
      'a refusal, which may be that of somebody else',
      { success: 0, error_type: 'wrong_state', response_body: JSON.stringify(refusalBody('wrong_state')) },
    ],
    ['another field', { request_body: JSON.stringify({ ...DOMAIN, handle: 'HDL-2' }) }],
    ['a time long before', { requestDate: '2020-01-01T00:00:00Z' }],
  ])('proves nothing with %s', async (_, entry) => {
    const { reseller, log } = losingDomains();
    const error = await lostBy(() => reseller.domain.register(DOMAIN));
    log(entry);
    expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'undecided' });
  });

  test('proves nothing if the clock of the service was set back, because its times are not in order', async () => {
    const { reseller, service, log } = losingDomains();
    await reseller.domain.list();
    const error = await lostBy(() => reseller.domain.register(DOMAIN));
    log({});
    service.logClockStep(-10_000);
    expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'undecided' });
  });

  /** A client whose registrations of domains lose their responses, and what adds an entry about one to the log. */
  function losingDomains() {
    const service = scripted();
    let method = '';
    const fetch: Fetch = (url, init) => {
      if (!url.endsWith('/domain/register')) return service.fetch(url, init);
      method = init.method ?? '';
      return Promise.reject(new TypeError('fetch failed'));
    };
    const reseller = createReseller({ apiKey: API_KEY, baseUrl: 'http://reseller.test', fetch, clock: service.clock });
    const log = (entry: object) =>
      service.addEntry(
        { key: null, body: new URLSearchParams(DOMAIN).toString(), at: service.now() },
        { endpoint: '/domain/register', method, ...ofDomain(DOMAIN.domain), ...entry },
      );
    return { service, reseller, log };
  }
});
