import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { createReseller } from '@reseller/client';
import { responses, createTestService, forms } from '@reseller/testing';
import type { TestService } from '@reseller/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';

test('services share no data', async () => {
  await using one = await createTestService();
  await using other = await createTestService();
  await one.reseller().vm.create(forms.createVm.smallest);
  expect(Object.keys((await one.reseller().accounting.currentInvoice()).positions.vms)).toHaveLength(1);
  expect(Object.keys((await other.reseller().accounting.currentInvoice()).positions.vms)).toHaveLength(0);
});

test('the clock of the test is the clock of the service', async () => {
  await using service = await createTestService({ now: '2026-11-30T23:00:00Z' });
  const reseller = service.reseller();
  await reseller.vm.create(forms.createVm.smallest);
  expect((await reseller.accounting.currentInvoice()).nextInvoiceDate).toBe('2026-12-01T00:00:00.000Z');
  await service.advance(2 * 3_600_000);
  expect((await reseller.accounting.currentInvoice()).nextInvoiceDate).toBe('2027-01-01T00:00:00.000Z');
  service.clock.advanceTo('2027-01-05T00:00:00Z');
  expect(() => service.clock.advance(-1)).toThrow(RangeError);
});

test('any client can use the fetch of the service, which refuses other hosts', async () => {
  await using service = await createTestService();
  const { fetch, baseUrl, apiKey } = service;
  expect(await createReseller({ fetch, baseUrl, apiKey }).vm.hosts()).not.toEqual([]);
  await expect(fetch('http://other.test/vm/list/hosts')).rejects.toThrow('fetch failed');
  await expect(fetch(`${baseUrl}/vm/list/hosts`, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  expect((await fetch(`${baseUrl}/nothing`)).status).toBe(404);
});

test('a fault applies to its path, as many times as it says', async () => {
  await using service = await createTestService();
  const reseller = service.reseller({ maxRetries: 0 });
  service.faults.addError(503, 'unavailable', { path: /^\/vm\//, times: 2 });
  await reseller.account.requests();
  await expect(reseller.vm.hosts()).rejects.toMatchObject({ status: 503 });
  await expect(reseller.vm.hosts()).rejects.toMatchObject({ status: 503 });
  await reseller.vm.hosts();
  service.faults.addError(500, 'internal_error');
  service.faults.clear();
  await reseller.vm.hosts();
  service.faults.add({ kind: 'delay', milliseconds: 1 });
  await reseller.vm.hosts();
});

test.each<[string, object]>([
  ["The fault 'late' has no member ms.", { kind: 'late', ms: 40_000 }],
  ["The fault 'late' needs milliseconds", { kind: 'late' }],
  ["The fault 'delay' needs milliseconds", { kind: 'delay', milliseconds: -1 }],
  ["The fault 'reset' needs when", { kind: 'reset' }],
  ["The fault 'response' needs response", { kind: 'response', when: 'before' }],
  ["The fault 'explode' is unknown.", { kind: 'explode' }],
])('a fault that cannot be used is refused: %s', async (message, fault) => {
  await using service = await createTestService();
  expect(() => Reflect.apply(service.faults.add, service.faults, [fault])).toThrow(message);
});

describe('fake timers', () => {
  afterEach(() => void vi.useRealTimers());

  test('with their defaults are refused with a sentence, because every call would hang', async () => {
    await using service = await createTestService();
    vi.useFakeTimers();
    await expect(service.fetch(`${service.baseUrl}/domain/list`)).rejects.toThrow('Fake only Date and setTimeout');
    vi.useRealTimers();
  });

  test('of Date and setTimeout change nothing', async () => {
    await using service = await createTestService();
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout'] });
    expect(await service.reseller().domain.list()).toEqual([]);
  });
});

test('close reports a fault that no request met', async () => {
  const service = await createTestService();
  service.faults.add({ kind: 'reset', when: 'before' }, { path: '/vm/craete' });
  await expect(service.close()).rejects.toThrow('No request met these faults: reset at /vm/craete. Is the path right?');
});

test.each<[string, (service: TestService) => unknown]>([
  ["The fault 'timeout' is unknown.", ({ faults }) => Reflect.apply(faults.add, faults, [{ kind: 'timeout' }])],
  ["The path 'vm/create' of a fault must begin with a slash", ({ faults }) => faults.addError(503, 'a', { path: 'vm/create' })],
  ['times must be a whole number from 1, got 0.', ({ faults }) => faults.addError(503, 'a', { times: 0 })],
  ['The trigger of a fault has no option time.', ({ faults }) => Reflect.apply(faults.add, faults, [{ kind: 'cut-body' }, { time: 2 }])],
  ['createTestService has no option date. Its option is now.', () => Reflect.apply(createTestService, undefined, [{ date: '2026-01-01' }])],
  ['now must be an instant such as', () => createTestService({ now: 'soon' })],
])('refuses an option that cannot be used: %s', async (message, use) => {
  await using service = await createTestService();
  await expect((async () => use(service))()).rejects.toThrow(message);
});

test('a time limit of a client runs on the clock of the service', async () => {
  await using service = await createTestService();
  const before = service.clock.now();
  service.faults.add({ kind: 'hang', when: 'before' });
  await expect(service.reseller({ maxRetries: 0 }).vm.hosts()).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(service.clock.now() - before).toBe(30_000);
});

test('a signal ends a hanging call, even after a garbage collection', async () => {
  await using service = await createTestService();
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('There is no gc function.');
  service.faults.add({ kind: 'hang', when: 'after' });
  const controller = new AbortController();
  const hanging = service.fetch(`${service.baseUrl}/vm/list/hosts`, {
    headers: { 'x-service-apikey': service.apiKey },
    signal: controller.signal,
  });
  let reason: unknown;
  const ended = hanging.catch((error: unknown) => void (reason = error));
  // The third collection ends a weak reference at the latest. A collection of a large heap takes long.
  for (let iteration = 0; iteration < 5; iteration++) {
    await new Promise((resolve) => setImmediate(resolve));
    Reflect.apply(collect, undefined, []);
  }
  controller.abort(new Error('enough'));
  await ended;
  expect(reason).toMatchObject({ message: 'enough' });
});

test('close waits for the requests in progress', async () => {
  const service = await createTestService();
  service.faults.add({ kind: 'hang', when: 'after' });
  const call = service.reseller({ honoursIdempotencyKey: false }).vm.create(forms.createVm.smallest, { timeoutMs: 50 });
  await expect(call).rejects.toMatchObject({ name: 'OutcomeUnknownError' });
  await service.close();
});

test('the examples have the types of the client', () => {
  expect(responses.createVm.created.data.config.cores satisfies number).toBeGreaterThan(0);
  expect(forms.setDomainNameservers.five.ns5 satisfies string).toBeTruthy();
});
