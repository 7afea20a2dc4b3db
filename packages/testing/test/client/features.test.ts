import { createReseller, OutcomeUnknownError, redact, SpendRefusedError } from '@reseller/client';
import type { ClientEvent, Fetch, LogLevel, Middleware, Purchase } from '@reseller/client';
import { createReseller as createExtendedReseller } from '@reseller/client/extension';
import * as operations from '@reseller/client/operations';
import { parseDocument, readOperations } from '@reseller/contract';
import document from '@reseller/openapi/openapi.json' with { type: 'json' };
import { responses, forms } from '@reseller/testing';
import { createServiceInside as createTestService } from '@reseller/testing/inside';
import type { ServiceInside as TestService } from '@reseller/testing/inside';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { functionsByOperation, methodsByOperation } from './methods.ts';
import { SMALL_VM, vmsOf } from './purchases.ts';

async function start(): Promise<TestService> {
  const service = await createTestService();
  onTestFinished(() => service.close());
  return service;
}

describe('a call', () => {
  test('returns the data, the data with its metadata, the raw response, or the request that it would send', async () => {
    const service = await start();
    const reseller = service.reseller();
    const hosts = await reseller.vm.hosts();
    expect(hosts[0]?.name).toEqual(expect.any(String));
    const { response, ...meta } = await reseller.vm.hosts().withMeta();
    expect(meta).toEqual({ data: hosts, requestID: expect.any(String), message: expect.any(String), status: 200, attempts: 1 });
    expect(response.headers.get('content-type')).toMatch('json');
    const { response: raw } = await reseller.vm.hosts().withMeta();
    expect([raw.status, await raw.json()]).toEqual([200, expect.objectContaining({ status: 'success', data: hosts })]);
    await expect(reseller.vm.reinstall(99_999).withMeta()).rejects.toMatchObject({ name: 'NotFoundError', status: 404 });
    const plan = await reseller.dryRun((api) => api.vm.create(SMALL_VM));
    expect(plan).toMatchObject({
      operation: 'createVm',
      billable: true,
      method: 'PUT',
      url: `${service.baseUrl}/vm/create`,
      form: SMALL_VM,
    });
    expect(await vmsOf(service)).toBe(0);
  });

  test('is sent once, whether it is awaited several times, once or never', async () => {
    const service = await start();
    const call = service.reseller().vm.create(SMALL_VM);
    expect(await call).toBe(await call);
    expect((await call.withMeta()).data).toBe(await call);
    expect((await (await call.withMeta()).response.json()).data).toEqual(await call);
    expect((await (await call.withMeta()).response.json()).data).toEqual(await call);
    expect((await (await call.withMeta()).response.json()).data).toEqual(await call);
    expect((await (await call.withMeta()).response.json()).data).toEqual(await call);
    let sent = 0;
    const counting: Middleware = (next) => (url, init) => {
      sent++;
      return next(url, init);
    };
    void service.reseller({ middleware: [counting] }).vm.hosts();
    await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toBe(1);
  });

  test('exists as a function for every operation of the document', () => {
    const { createClient, ...functions } = operations;
    expect(createClient).toBeTypeOf('function');
    expect(Object.keys(functions).toSorted()).toEqual(
      readOperations(parseDocument(document))
        .map(({ id }) => id)
        .toSorted(),
    );
  });
});

describe('withOptions', () => {
  test('returns a client with other options that shares the lost requests with the first', async () => {
    const service = await start();
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    const impatient = reseller.withOptions({ maxRetries: 0, headers: { 'x-trace': '1' } });
    service.faults.add({ kind: 'reset', when: 'after' });
    const error: unknown = await impatient.vm.create(SMALL_VM).catch((thrown: unknown) => thrown);
    if (!(error instanceof OutcomeUnknownError)) throw error;
    expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'committed' });
    await expect(reseller.withOptions({ readOnly: true }).vm.create(SMALL_VM)).rejects.toThrow('read-only');
    expect(await vmsOf(service)).toBe(1);
  });
});

describe('the log of a client', () => {
  const linesOf = (level: LogLevel) => async (service: TestService) => {
    const lines: string[] = [];
    const write = (severity: string) => (message: string) => void lines.push(`${severity} ${message.split(':')[0]}`);
    const logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
    const reseller = service.reseller({ logger, logLevel: level, honoursIdempotencyKey: false });
    service.faults.addError(503, 'unavailable', { path: '/vm/list/hosts' });
    await reseller.vm.hosts();
    await reseller.vm.create(SMALL_VM);
    service.faults.add({ kind: 'reset', when: 'after' }, { path: '/vm/create' });
    await reseller.vm.create(SMALL_VM).catch(() => {});
    return lines;
  };

  test.each<[LogLevel, string[]]>([
    ['off', []],
    ['error', ['error createVm']],
    ['warn', ['warn listVmHosts', 'error createVm']],
    ['info', ['warn listVmHosts', 'info createVm', 'error createVm']],
  ])('%s', async (level, expected) => {
    expect(await linesOf(level)(await start())).toEqual(expected);
  });

  test('the environment variable RESELLER_LOG sets the level, and logLevel overrides it', async () => {
    const service = await start();
    const lines: unknown[] = [];
    vi.spyOn(console, 'debug').mockImplementation((line) => void lines.push(line));
    vi.stubEnv('RESELLER_LOG', 'debug');
    onTestFinished(() => void vi.unstubAllEnvs());
    await service.reseller().vm.hosts();
    await service.reseller({ logLevel: 'off' }).vm.hosts();
    vi.stubEnv('RESELLER_LOG', undefined);
    await service.reseller().vm.hosts();
    expect(lines).toEqual(['listVmHosts: attempt 1', expect.stringMatching(/^listVmHosts: status 200 in \d+ ms$/)]);
  });

  test('has no key, secret or personal data in any line', async () => {
    const service = await start();
    const lines: unknown[] = [];
    const write = (...line: unknown[]) => void lines.push(line);
    const reseller = service.reseller({ logger: { debug: write, info: write, warn: write, error: write }, logLevel: 'debug' });
    await reseller.domain.handle.create({ ...forms.createHandle.withPhone, lastname: 'Very-Private' });
    await reseller.domain.register({ domain: 'a.net', handle: 'x', authcode: 'very-secret' }).catch(() => {});
    await new Promise((resolve) => queueMicrotask(() => resolve(undefined)));
    expect(lines).not.toEqual([]);
    expect(JSON.stringify(lines)).not.toMatch(/very-private|very-secret/i);
    expect(JSON.stringify(lines)).not.toContain(service.apiKey);
  });

  test('logs every attempt at the level debug', async () => {
    const lines = await linesOf('debug')(await start());
    expect(lines.filter((line) => line === 'debug listVmHosts')).toHaveLength(3);
  });
});

describe('the request log', () => {
  test('returns every entry exactly once while new entries arrive between the pages', async () => {
    const service = await start();
    const other = service.reseller();
    for (let count = 0; count < 130; count++) await other.vm.hosts();
    const before = await service.store.read((db) => db.selectFrom('request_log').select('request_id').orderBy('number', 'desc').execute());
    const read: string[] = [];
    let pages = 0;
    for await (const page of service.reseller().account.requests().pages()) {
      read.push(...page.map(({ requestID }) => requestID));
      pages++;
      // More than a whole page of entries arrives before the third page is read.
      for (let count = 0; count < (pages === 2 ? 60 : 7); count++) await other.vm.hosts();
    }
    expect(read).toEqual(before.map(({ request_id: id }) => id));
  });

  test('ends if there are no further entries, also in an empty log', async () => {
    const service = await start();
    expect(await service.reseller().account.requests().toArray()).toEqual([]);
    const rest = await service.reseller().account.requests().toArray();
    expect(rest.map(({ endpoint }) => endpoint)).toEqual(['/account/requests']);
  });

  test('loads only as many pages as a limit needs', async () => {
    const service = await start();
    const reseller = service.reseller();
    for (let count = 0; count < 60; count++) await reseller.vm.hosts();
    let sent = 0;
    const onEvent = (event: ClientEvent) => void (event.type === 'request' && sent++);
    expect(await service.reseller({ onEvent }).account.requests().toArray({ limit: 3 })).toHaveLength(3);
    expect(sent).toBe(1);
  });
});

describe('the spend guard', () => {
  test('refuses a purchase by beforeBillable before it is sent, and calls it for nothing else', async () => {
    const service = await start();
    const asked: Purchase[] = [];
    const reseller = service.reseller({
      beforeBillable(purchase) {
        asked.push(purchase);
        throw new Error('not on a Sunday');
      },
    });
    await reseller.vm.hosts();
    const error: unknown = await reseller.vm.create(SMALL_VM).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SpendRefusedError);
    expect(error).toMatchObject({ attempts: 0, cause: { message: 'not on a Sunday' } });
    expect(asked).toEqual([{ operation: 'createVm', path: {}, form: SMALL_VM }]);
    expect(await vmsOf(service)).toBe(0);
  });

  test('lets a read-only client read, and change nothing', async () => {
    const service = await start();
    const reseller = service.reseller({ readOnly: true });
    expect(await reseller.vm.hosts()).not.toEqual([]);
    expect(await reseller.account.requests()).not.toEqual([]);
    await expect(reseller.vm.create(SMALL_VM)).rejects.toMatchObject({
      name: 'SpendRefusedError',
      curl: expect.stringContaining('/vm/create'),
    });
    await expect(reseller.account.createOtp()).rejects.toBeInstanceOf(SpendRefusedError);
    expect(await vmsOf(service)).toBe(0);
  });
});

describe('observability', () => {
  test('names the operation and the attempt in events, without secrets', async () => {
    const service = await start();
    const events: ClientEvent[] = [];
    const reseller = service.reseller({ onEvent: (event) => void events.push(event), maxRetries: 0 });
    service.faults.add({ kind: 'reset', when: 'before' }, { path: '/domain/register' });
    await reseller.vm.hosts();
    await reseller.domain.register({ domain: 'a.net', handle: 'x', authcode: 'very-secret' }).catch(() => {});
    expect(events.map(({ type, operation, attempt }) => [type, operation, attempt])).toEqual([
      ['request', 'listVmHosts', 1],
      ['response', 'listVmHosts', 1],
      ['request', 'registerDomain', 1],
      ['failure', 'registerDomain', 1],
    ]);
    expect(JSON.stringify(events)).not.toContain('very-secret');
  });

  test('has the request ID of each response in events and in the details of log lines', async () => {
    const service = await start();
    const fromEvents: unknown[] = [];
    const fromLog: unknown[] = [];
    const write = (_: string, { requestID }: { requestID?: unknown } = {}) => void fromLog.push(requestID);
    const reseller = service.reseller({
      onEvent: (event) => void fromEvents.push(event.type === 'response' ? event.requestID : event.type),
      logger: { debug: write, info: write, warn: write, error: write },
      logLevel: 'debug',
    });
    const { requestID } = await reseller.vm.hosts().withMeta();
    const refused: { requestID?: unknown } = await reseller.domain.info('unknown.test').catch((error: unknown) => Object(error));
    expect(requestID).toMatch(/^[\da-f-]{36}$/);
    expect(fromEvents).toEqual(['request', requestID, 'request', 'failure']);
    expect(refused.requestID).toMatch(/^[\da-f-]{36}$/);
    expect(fromLog).toEqual([undefined, requestID, undefined, refused.requestID]);
  });

  test('runs the outermost middleware first', async () => {
    const service = await start();
    const order: string[] = [];
    const around =
      (name: string): Middleware =>
      (next) =>
      (url, init) => {
        order.push(name);
        return next(url, init);
      };
    await service.reseller({ middleware: [around('outer'), around('inner')] }).vm.hosts({ headers: { 'x-trace': '1' } });
    expect(order).toEqual(['outer', 'inner']);
  });

  test('redacts a response', () => {
    const shown = redact(responses.createVm.created);
    expect(shown).toMatchObject({ data: { config: { username: 'root', password: '***' } } });
    expect(redact({ authcode: null, list: [{ otp_code: '123456' }] })).toEqual({ authcode: null, list: [{ otp_code: '***' }] });
  });
});

test('sends the same request with the client and with the single function, for each operation', async () => {
  const sent: unknown[] = [];
  const recording: Fetch = async (url, init) => {
    sent.push([url, init.method, init.body, [...new Headers(init.headers)]]);
    return Response.json({ status: 'success', requestID: null, message: '', data: null });
  };
  const config = { apiKey: 'k', baseUrl: 'http://a.test', fetch: recording, maxRetries: 0 };
  const methods = methodsByOperation(createReseller(config));
  const functions = functionsByOperation(operations.createClient(config));
  for (const { id, method, parameters, form } of readOperations(parseDocument(document))) {
    const path = parameters.filter((parameter) => parameter.in === 'path').map(() => '12345');
    const [example] = Object.values(Object.entries(forms).find(([name]) => name === id)?.[1] ?? {});
    const input = [...path, ...(form ? [example] : []), { idempotencyKey: 'order-1', headers: { 'x-trace': '1' } }];
    await methods
      .get(id)?.(...input)
      .catch(() => {});
    const own = sent.splice(0);
    const names = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => [name, '12345']);
    const options = {
      path: Object.fromEntries(names),
      ...(form && { body: example }),
      idempotencyKey: 'order-1',
      headers: { 'x-trace': '1' },
    };
    await functions
      .get(id)?.(options)
      .catch(() => {});
    expect(sent.splice(0)).toEqual(own);
    expect(own.map((request) => Object(request)[1])).toEqual([method]);
  }
});

test('works with single functions, for a small bundle', async () => {
  const service = await start();
  const client = operations.createClient({ apiKey: service.apiKey, baseUrl: service.baseUrl, fetch: service.fetch });
  expect(await operations.listVmHosts({ client })).toEqual(await service.reseller().vm.hosts());
});

test('works on a socket', async () => {
  const service = await start();
  const reseller = createReseller({ apiKey: service.apiKey, baseUrl: await service.listen() });
  const vm = await reseller.vm.create(SMALL_VM);
  expect(await reseller.vm.reinstall(vm.identifier)).toBeNull();
});

test('accepts a response that also has a value which the request left as it was', async () => {
  const service = await start();
  const reseller = createExtendedReseller({ apiKey: service.apiKey, baseUrl: service.baseUrl, fetch: service.fetch });
  const { identifier } = await reseller.vm.create({ ...SMALL_VM, hostname: 'web1' });
  expect(await reseller.vm.edit(identifier, { hostname: 'shop1' })).toMatchObject({ name: 'shop1', hostname: 'shop1' });
  expect(await reseller.vm.edit(identifier, { name: 'Shop' })).toMatchObject({ name: 'Shop', hostname: 'shop1' });
  expect(await reseller.vm.edit(identifier, { labels: 'env=test' })).toMatchObject({ name: 'Shop', labels: { env: 'test' } });
  const { labels } = await reseller.vm.edit(identifier, { labels: { env: 'live', team: '' } });
  expect(labels).toEqual({ env: 'live', team: '' });
  expect(await reseller.vm.edit(identifier, { labels })).toMatchObject({ labels });
});
