/** The guards of purchases: `beforeBillable` and `readOnly`. */
import { describe, expect, test } from 'vitest';

import { createReseller } from '../src/index.ts';
import type { Logger, Purchase, ResellerConfig } from '../src/index.ts';
import { createClient, createVm } from '../src/operations.ts';
import { API_KEY, scripted, VM } from './scripted-service.ts';

describe('beforeBillable', () => {
  test.each<[string, () => never, string]>([
    [
      'an error',
      () => {
        throw new Error('not on a Sunday');
      },
      'not on a Sunday',
    ],
    [
      'another value',
      () => {
        throw 'no' as unknown;
      },
      'no',
    ],
  ])('refuses a purchase with %s, which is the cause', async (_, beforeBillable, reason) => {
    const { reseller, sent } = scripted({ config: { beforeBillable } });
    const error: unknown = await reseller.vm.create(VM).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: 'SpendRefusedError',
      message: `createVm: beforeBillable refused it: ${reason}. Nothing was sent.`,
    });
    expect(Object(error).cause).toEqual(reason === 'no' ? 'no' : new Error(reason));
    expect(sent).toEqual([]);
  });

  test('is called before each purchase with its path and form, may be asynchronous, and is called for nothing else', async () => {
    const asked: Purchase[] = [];
    const beforeBillable = async (purchase: Purchase) => void asked.push(purchase);
    const { reseller } = scripted({ config: { beforeBillable } });
    await reseller.domain.list();
    await reseller.domain.editDns('a.test', { type: 'A', data: '192.0.2.1' });
    await reseller.vm.create(VM);
    expect(asked).toEqual([{ operation: 'createVm', path: {}, form: VM }]);
  });
});

test('a read-only client sends no request that changes something, whether it costs money or not', async () => {
  const { reseller, sent, count } = scripted({ config: { readOnly: true } });
  await reseller.domain.list();
  for (const call of [() => reseller.vm.create(VM), () => reseller.domain.undelete('a.test'), () => reseller.account.createOtp()])
    await expect(call()).rejects.toMatchObject({
      name: 'SpendRefusedError',
      message: expect.stringContaining(': this client is read-only. Nothing was sent.'),
    });
  expect([sent.length, count('/domain/list')]).toEqual([0, 1]);
});

describe('calls that must send nothing', () => {
  test('a dry run refuses the client outside of its callback', async () => {
    const { reseller, sent } = scripted();
    await expect(reseller.dryRun(() => reseller.vm.create(VM))).rejects.toThrow('A dry run must use the client that its callback receives');
    expect(await reseller.dryRun((api) => api.vm.create(VM))).toMatchObject({ operation: 'createVm', billable: true });
    expect(sent).toEqual([]);
    await reseller.vm.create(VM);
    expect(sent).toHaveLength(1);
  });

  test('an unknown option is refused by every door: a call with dryRun would buy, and a client with readOnly would change', async () => {
    const config = { baseUrl: 'http://reseller.test', apiKey: API_KEY, fetch: neverFetch };
    const call = async () => createVm(Object.assign({ client: createClient(config), body: VM }, { dryRun: true }));
    await expect(call).rejects.toThrow('A call has no option dryRun.');
    for (const option of ['readOnly', 'beforeBillable', 'environment', 'timeout'])
      expect(() => createClient(Object.assign({ [option]: true }, config))).toThrow(`createClient has no option ${option}.`);
  });

  test.each(['vm/list/hosts', '@evil.test/x', '', '.evil.test/'])(
    "a request with the path '%s' is refused, because it would continue the host",
    (path) => {
      const { reseller, count } = scripted();
      expect(() => reseller.request('GET', path)).toThrow(`The path must begin with '/', such as /vm/list, got '${path}'.`);
      expect(count(path)).toBe(0);
    },
  );
});

describe('headers that have an option', () => {
  const NAMES = ['Idempotency-Key', 'idempotency-key', 'IDEMPOTENCY-KEY', 'X-SERVICE-APIKEY', 'x-service-apikey'];

  test.each(NAMES)('%s of a call is refused before anything is sent', async (name) => {
    const { reseller, sent } = scripted();
    const options = { headers: { [name]: 'x' } };
    for (const call of [
      () => reseller.vm.create(VM, { idempotencyKey: 'order-4711', ...options }),
      () => reseller.vm.create(VM, options),
      () => reseller.request('PUT', '/vm/create', VM, options),
      () =>
        createVm({ client: createClient({ baseUrl: 'http://reseller.test', apiKey: API_KEY, fetch: neverFetch }), body: VM, ...options }),
    ])
      await expect(async () => call()).rejects.toThrow(`The headers must not contain ${name.toLowerCase()}.`);
    expect(sent).toEqual([]);
  });

  test.each([...NAMES, 'Content-Type'])('%s of a client is refused when the client is made', (name) => {
    const headers = { [name]: 'x' };
    const config = { baseUrl: 'http://reseller.test', apiKey: API_KEY };
    const message = `The headers must not contain ${name.toLowerCase()}.`;
    expect(() => createReseller({ ...config, headers })).toThrow(message);
    expect(() => createReseller(config).withOptions({ headers })).toThrow(message);
    expect(() => createClient({ ...config, headers })).toThrow(message);
  });
});

const neverFetch = () => Promise.reject(new Error('Something was sent.'));

describe('callbacks', () => {
  const throwing = () => {
    throw new Error('a mistake of the callback');
  };
  const rejecting = () => Promise.reject(new Error('a mistake of the callback'));
  const logger = (log: () => void) => ({ debug: log, info: log, warn: log, error: log });

  test.each<[string, Partial<ResellerConfig>]>([
    ['an onEvent that throws', { onEvent: throwing }],
    ['an onEvent that rejects', { onEvent: rejecting }],
    ['a logger that throws', { logger: logger(throwing), logLevel: 'debug' }],
    ['a logger that rejects', { logger: logger(rejecting), logLevel: 'debug' }],
    ['a logger without methods', { logger: {} as Logger, logLevel: 'debug' }],
  ])('%s ends neither the call nor the process', async (_, config) => {
    const { reseller, sent } = scripted({ config });
    const failures: unknown[] = [];
    const note = (error: unknown) => void failures.push(error);
    process.on('unhandledRejection', note).on('uncaughtException', note);
    await reseller.vm.create(VM);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note).off('uncaughtException', note);
    expect([sent.length, failures]).toEqual([1, []]);
  });
});
