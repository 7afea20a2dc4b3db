/** Each failure is an error of a class that says what happened, and no error has a secret. */
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { inspect } from 'node:util';

import {
  AbortedError,
  ResponseError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  createReseller,
  CreditLimitError,
  InvalidError,
  NotFoundError,
  OutcomeUnknownError,
  PermissionError,
  RateLimitError,
  ResellerError,
  ServerError,
  TimeoutError,
} from '@reseller/client';
import type { Middleware, Reseller } from '@reseller/client';
import { createClient } from '@reseller/client/operations';
import { issueApiKey, suspendAccount } from '@reseller/operator-client';
import { forms } from '@reseller/testing';
import { createServiceInside as createTestService } from '@reseller/testing/inside';
import type { ServiceInside as TestService } from '@reseller/testing/inside';
import { describe, expect, onTestFinished, test } from 'vitest';

import { freePort } from '../../../../.config/free-ports.ts';
import { SMALL_VM, vmsOf } from './purchases.ts';

async function start(): Promise<TestService> {
  const service = await createTestService();
  onTestFinished(() => service.close());
  return service;
}

/** A server on a socket, for responses that the service would never send. */
async function serve(listener: RequestListener): Promise<{ reseller: Reseller; port: number }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { reseller: createReseller({ apiKey: 'secret-key', baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 }), port };
}

async function thrownBy(call: PromiseLike<unknown>): Promise<ResellerError> {
  const thrown: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ResellerError)) throw new Error('No ResellerError was thrown.', { cause: thrown });
  return thrown;
}

describe('throws an error of its own class for', () => {
  test('an unknown key', async () => {
    const error = await thrownBy((await start()).reseller({ apiKey: 'unknown' }).vm.hosts());
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({
      status: 401,
      type: 'unauthorized',
      operation: 'listVmHosts',
      attempts: 1,
      requestID: expect.any(String),
    });
  });

  test('an unknown VM', async () => {
    const error = await thrownBy((await start()).reseller().vm.reinstall(99_999));
    expect(error).toBeInstanceOf(NotFoundError);
    // The message ends with a single full stop.
    expect(error.message).toMatch(/^reinstallVm: .+[^.]\.$/);
  });

  test('a form that breaks a rule, with its fields', async () => {
    const error = await thrownBy((await start()).reseller().vm.create({ ...SMALL_VM, cores: 10_000 }));
    expect(error).toBeInstanceOf(InvalidError);
    expect(error).toMatchObject({
      status: 422,
      attempts: 1,
      fields: [{ field: 'cores', rule: expect.any(String), message: expect.any(String) }],
    });
  });

  test('a purchase beyond the credit limit', async () => {
    const service = await start();
    const { apiKey } = await service.addAccount('1.00');
    const error = await thrownBy(service.reseller({ apiKey }).vm.create(SMALL_VM));
    expect(error).toBeInstanceOf(CreditLimitError);
    expect(error).toMatchObject({ status: 402, uncertain: false });
  });

  test('a key that may only read, and a suspended account', async () => {
    const service = await start();
    const { id, apiKey } = await service.addAccount();
    const path = { account_id: id };
    const { key } = await issueApiKey({ client: service.operator, path, body: { label: 'Dashboard', access: 'read' } });
    const readOnly = await thrownBy(service.reseller({ apiKey: key }).vm.create(SMALL_VM));
    expect(readOnly).toBeInstanceOf(PermissionError);
    expect(readOnly).toMatchObject({ status: 403, type: 'read_only_key', attempts: 1, uncertain: false });
    await suspendAccount({ client: service.operator, path, body: { reason: 'Unpaid' } });
    const suspended = await thrownBy(service.reseller({ apiKey }).vm.hosts());
    expect(suspended).toBeInstanceOf(PermissionError);
    expect(suspended).toMatchObject({ status: 403, type: 'account_suspended', attempts: 1, uncertain: false });
    expect(await service.reseller({ apiKey }).accounting.invoices()).toEqual([]);
  });

  test('a key that was used for another purchase', async () => {
    const reseller = (await start()).reseller();
    await reseller.vm.create(SMALL_VM, { idempotencyKey: 'order-1' });
    const error = await thrownBy(reseller.vm.create({ ...SMALL_VM, cores: 1 }, { idempotencyKey: 'order-1' }));
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ type: 'idempotency_key_reused' });
  });
});

test.each([
  ['no words', '', /^listVmHosts: the service responded with status 418$/],
  ['a question', 'Really?', /^listVmHosts: Really\?$/],
])('uses the message of an error of another server with %s', async (_, message, expected) => {
  const fetch = async () => Response.json({ status: 'error', requestID: null, message, data: null }, { status: 418 });
  const error = await thrownBy(createReseller({ apiKey: 'key', baseUrl: 'http://a.test', fetch }).vm.hosts());
  expect([error.name, error.status]).toEqual(['ResellerError', 418]);
  expect(error.message).toMatch(expected);
});

describe('retries', () => {
  test('after a 429 when the time in Retry-After is over', async () => {
    const service = await start();
    const began = service.clock.now();
    service.faults.addError(429, 'rate_limited', { headers: { 'retry-after': '7' } });
    const { attempts } = await service.reseller().vm.hosts().withMeta();
    expect([attempts, service.clock.now() - began]).toEqual([2, 7_000]);
  });

  test('not after a Retry-After that is too long', async () => {
    const service = await start();
    service.faults.addError(429, 'rate_limited', { headers: { 'retry-after': '3600' } });
    const error = await thrownBy(service.reseller().vm.hosts());
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ attempts: 1, retryAfter: 3600 });
  });

  test('with a longer delay each time, up to maxRetries', async () => {
    const service = await start();
    const delays: number[] = [];
    service.faults.addError(503, 'unavailable', { times: 9 });
    const reseller = service.reseller({
      maxRetries: 3,
      onEvent: (event) => void (event.type === 'failure' && event.delay && delays.push(event.delay)),
    });
    const error = await thrownBy(reseller.vm.hosts());
    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({ attempts: 4, status: 503 });
    expect(delays).toHaveLength(3);
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeGreaterThanOrEqual(250 * 2 ** index);
      expect(delay).toBeLessThanOrEqual(500 * 2 ** index);
    }
  });

  test('a read after a cut body, a reset and a timeout', async () => {
    const service = await start();
    const reseller = service.reseller();
    for (const fault of [{ kind: 'cut-body' }, { kind: 'reset', when: 'after' }, { kind: 'hang', when: 'before' }] as const) {
      service.faults.add(fault);
      // Short only if no response comes, because a good response can take longer on a busy machine.
      const { attempts } = await reseller.vm.hosts({ maxRetries: 5, timeoutMs: fault.kind === 'hang' ? 200 : undefined }).withMeta();
      expect(attempts).toBeGreaterThanOrEqual(2);
      if (fault.kind !== 'hang') expect(attempts).toBe(2);
    }
  });

  test('POST /account/requests, because the document marks it as safe', async () => {
    const service = await start();
    service.faults.add({ kind: 'reset', when: 'before' });
    expect(await service.reseller().account.requests().withMeta()).toMatchObject({ attempts: 2, requestID: null });
  });

  test('neither a call that a signal aborted nor one that it aborts during the delay', async () => {
    const service = await start();
    service.faults.add({ kind: 'hang', when: 'before' });
    const controller = new AbortController();
    const call = thrownBy(service.reseller().vm.hosts({ signal: controller.signal }));
    controller.abort(new Error('enough'));
    const error = await call;
    expect(error).toBeInstanceOf(AbortedError);
    expect(error.cause).toMatchObject({ message: 'enough' });
    const reseller = createReseller({ apiKey: 'x', baseUrl: service.baseUrl, fetch: service.fetch });
    service.faults.addError(503, 'unavailable', { times: 3 });
    const waiting = new AbortController();
    const end = reseller.vm.hosts({ signal: waiting.signal });
    const middle = thrownBy(end);
    setImmediate(() => waiting.abort());
    expect(await middle).toMatchObject({ name: 'AbortedError' });
    service.faults.clear();
    expect(await thrownBy(reseller.vm.hosts({ signal: AbortSignal.abort() }))).toMatchObject({ name: 'AbortedError', attempts: 0 });
  });
});

describe('a purchase that is the first call of its process', () => {
  test('is retried after an envelope with 429, because nothing was bought', async () => {
    const service = await start();
    service.faults.addError(429, 'rate_limited');
    expect(await service.reseller().vm.create(SMALL_VM).withMeta()).toMatchObject({ attempts: 2 });
    expect(await vmsOf(service)).toBe(1);
  });

  test('is retried if no connection was made', async () => {
    const service = await start();
    let refusals = 1;
    const refuseOnce: Middleware = (next) => (url, init) => {
      if (refusals-- <= 0) return next(url, init);
      const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      return Promise.reject(new TypeError('fetch failed', { cause }));
    };
    expect(
      await service
        .reseller({ middleware: [refuseOnce] })
        .vm.create(SMALL_VM)
        .withMeta(),
    ).toMatchObject({ attempts: 2 });
    expect(await vmsOf(service)).toBe(1);
  });

  test('is not retried if its response was lost', async () => {
    const service = await start();
    service.faults.add({ kind: 'reset', when: 'before' });
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    expect(await thrownBy(reseller.vm.create(SMALL_VM))).toMatchObject({ name: 'OutcomeUnknownError', attempts: 1 });
  });
});

test.each([408, 425, 429, 502, 503])('delays the retry of a read by the Retry-After of a page with status %i', async (status) => {
  const service = await start();
  const began = service.clock.now();
  const response = () => new Response('<html>', { status, headers: { 'retry-after': '7' } });
  service.faults.add({ kind: 'response', when: 'before', response });
  const { attempts } = await service.reseller().vm.hosts().withMeta();
  expect([attempts, service.clock.now() - began]).toEqual([2, 7_000]);
});

describe('a response that is not from the API', () => {
  const html = '<!doctype html><title>Welcome</title>';
  test.each([
    ['an HTML page', 'html', (_, response) => void response.setHeader('content-type', 'text/html').end(html)],
    ['another text', 'not-json', (_, response) => void response.end('OK')],
    ['nothing', 'not-json', (_, response) => void response.end()],
    ['JSON of something else', 'no-envelope', (_, response) => void response.end('{"hello":"world"}')],
    ['JSON null', 'no-envelope', (_, response) => void response.end('null')],
    ['half a response', 'cut', (_, response) => void response.end('{"status":"success","requ')],
    [
      'a body that breaks off',
      'cut',
      (_, response) => void response.writeHead(200, { 'content-length': '999' }).write('{"status"', () => response.destroy()),
    ],
    ['a page of another server: a wrong baseUrl', 'html', (_, response) => void response.writeHead(404).end(html)],
  ] satisfies [string, string, RequestListener][])('%s: throws a ResponseError with this reason', async (_, reason, listener) => {
    const { reseller } = await serve(listener);
    const error = await thrownBy(reseller.vm.hosts());
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ reason, operation: 'listVmHosts', attempts: 1 });
  });

  test('refuses a redirect to another host, which does not get the key', async () => {
    const seen: unknown[] = [];
    const { port } = await serve((request, response) => {
      seen.push(request.headers);
      response.end('{}');
    });
    const { reseller } = await serve(
      (_, response) => void response.writeHead(307, { location: `http://localhost:${port}/vm/list/hosts` }).end(),
    );
    const error = await thrownBy(reseller.vm.hosts());
    expect(error).toMatchObject({ name: 'ResponseError', reason: 'redirect', status: 307, uncertain: false });
    expect(error.message).toContain(`http://localhost:${port}`);
    // Only a response of the API decides the outcome of a purchase.
    const purchase = await thrownBy(reseller.vm.create(SMALL_VM));
    expect([purchase.name, purchase.cause]).toMatchObject(['OutcomeUnknownError', { name: 'ResponseError', reason: 'redirect' }]);
    expect(seen).toEqual([]);
  });

  test('no server: throws a ConnectionError with a known outcome', async () => {
    const unreachable = createReseller({ apiKey: 'secret-key', baseUrl: `http://127.0.0.1:${await freePort()}`, maxRetries: 0 });
    const error = await thrownBy(unreachable.vm.create(SMALL_VM));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ uncertain: false, attempts: 1 });
  });

  test('a reset in the middle of a purchase: throws that the outcome is unknown', async () => {
    const { reseller } = await serve((request) => void request.socket.resetAndDestroy());
    const error = await thrownBy(reseller.vm.create(SMALL_VM));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error.cause).toBeInstanceOf(ConnectionError);
  });

  test('a server that never responds: throws a TimeoutError', async () => {
    const { reseller } = await serve(() => {});
    const error = await thrownBy(reseller.vm.hosts({ timeoutMs: 50 }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect((await thrownBy(reseller.vm.create(SMALL_VM, { timeoutMs: 50 }))).cause).toBeInstanceOf(TimeoutError);
  });
});

describe('an error', () => {
  test('has the name of its class and no undefined property', async () => {
    const service = await start();
    const error = await thrownBy(service.reseller().vm.reinstall(99_999));
    expect([error.name, error.constructor.name]).toEqual(['NotFoundError', 'NotFoundError']);
    expect(Object.values(error)).not.toContain(undefined);
    expect(inspect(error)).not.toContain('undefined');
  });

  test('without a cause prints no cause', async () => {
    const { reseller } = await serve(() => {});
    const error = await thrownBy(reseller.vm.create({ ...SMALL_VM, cores: 1.5 }));
    expect(error.cause).toBeUndefined();
    expect(inspect(error)).not.toContain('cause');
  });

  test('about an unknown outcome has the idempotency key, so that the call can be repeated', async () => {
    const service = await start();
    service.faults.add({ kind: 'reset', when: 'after' }, { times: 9 });
    const error = await thrownBy(service.reseller().vm.create(SMALL_VM, { idempotencyKey: 'order-1' }));
    expect(error).toMatchObject({ name: 'OutcomeUnknownError', uncertain: true, idempotencyKey: 'order-1', operation: 'createVm' });
    service.faults.clear();
    const again = await service.reseller().vm.create(SMALL_VM, { idempotencyKey: error.idempotencyKey });
    expect([await vmsOf(service), again.config.cores]).toEqual([1, SMALL_VM.cores]);
  });

  test('shows no personal data', async () => {
    const service = await start();
    const form = { ...forms.createHandle.withPhone, lastname: 'Very-Private', email: 'very-private@customer.test' };
    const events: unknown[] = [];
    service.faults.addError(500, 'internal_error', { times: 1 });
    const reseller = service.reseller({ maxRetries: 0, onEvent: (event) => void events.push(event) });
    const error = await thrownBy(reseller.domain.handle.create(form));
    const plan = await reseller.dryRun((api) => api.domain.handle.create(form));
    for (const text of [inspect(error, { depth: 9 }), JSON.stringify(events), JSON.stringify(plan)])
      expect(text).not.toMatch(/very-private/i);
  });
});

describe('secrets', () => {
  test('are in no form of an error: neither the API key nor an auth code', async () => {
    const service = await start();
    service.faults.add({ kind: 'reset', when: 'before' }, { times: 9 });
    const form = { domain: 'reseller-customer.de', handle: 'HDL-1', authcode: 'very-secret-code' };
    const error = await thrownBy(service.reseller().domain.register(form));
    expect(error.curl).toContain('authcode=***');
    expect(error.curl).toContain('$API_KEY');
    for (const shown of [inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error), String(error), error.stack]) {
      expect(shown).not.toContain('very-secret-code');
      expect(shown).not.toContain(service.apiKey);
    }
  });

  test('are not in a printed client', async () => {
    const config = { apiKey: 'very-secret-key', baseUrl: 'http://a.test' };
    for (const client of [createReseller(config), createClient(config)])
      expect(inspect(client, { depth: 9, showHidden: true })).not.toContain('very-secret');
  });

  test('repeats the call with the curl command of an error', async () => {
    const service = await start();
    const { curl } = await service.reseller().dryRun((api) => api.vm.create(SMALL_VM));
    expect(curl).toMatch(
      /^curl -X PUT 'http:\/\/reseller\.test\/vm\/create' -H "X-SERVICE-APIKEY: \$API_KEY" -H 'Idempotency-Key: [0-9a-f-]{36}' -d 'cores=\d/,
    );
  });
});
