/** Whatever happens to the response, a purchase happens at most once, and `reconcile` reports the true outcome. */
import { ConnectionError, NotFoundError, OutcomeUnknownError, ServerError } from '@reseller/client';
import type { Middleware, Reconciliation, Reseller } from '@reseller/client';
import type { Fault } from '@reseller/testing';
import { createServiceInside as createTestService } from '@reseller/testing/inside';
import type { ServiceInside as TestService } from '@reseller/testing/inside';
import { describe, expect, onTestFinished, test } from 'vitest';

import { billable, effectsOf, preparationOf, SMALL_VM, vmsOf } from './purchases.ts';
import type { Purchase } from './purchases.ts';

const page = (status: number) => () =>
  new Response('<html><body>Bad gateway</body></html>', { status, headers: { 'content-type': 'text/html' } });
const failure = () =>
  Response.json({ status: 'error', type: 'internal_error', requestID: null, message: 'A fault.', data: null }, { status: 500 });

const faults: Readonly<Record<string, Fault>> = {
  'a reset before the commit': { kind: 'reset', when: 'before' },
  'a reset after the commit': { kind: 'reset', when: 'after' },
  'a timeout before the commit': { kind: 'hang', when: 'before' },
  'a timeout after the commit': { kind: 'hang', when: 'after' },
  'a cut body': { kind: 'cut-body' },
  'a 500 before the commit': { kind: 'response', when: 'before', response: failure },
  'a 500 after the commit': { kind: 'response', when: 'after', response: failure },
  'a 502 page of a proxy before the commit': { kind: 'response', when: 'before', response: page(502) },
  'a 502 page of a proxy after the commit': { kind: 'response', when: 'after', response: page(502) },
  'a 503 page of a proxy after the commit': { kind: 'response', when: 'after', response: page(503) },
  'a page with status 200 after the commit': { kind: 'response', when: 'after', response: page(200) },
  'half a response that ends well after the commit': { kind: 'response', when: 'after', response: () => new Response('{"status":"succ') },
};
const cases = Object.entries(faults);

/** Short only if no response comes, because a good response can take longer on a busy machine. */
const timeoutFor = (fault: Fault | undefined) => (fault?.kind === 'hang' ? { timeoutMs: 200 } : {});

interface Setting {
  readonly service: TestService;
  readonly reseller: Reseller;
  readonly purchase: Purchase;
  /** Number of attempts of the purchase. */
  sent(): number;
}

async function setUp(operation: string, honours: boolean): Promise<Setting> {
  const service = await createTestService();
  onTestFinished(() => service.close());
  const urls: string[] = [];
  const counting: Middleware = (next) => (url, init) => {
    urls.push(url);
    return next(url, init);
  };
  const reseller = service.reseller({ middleware: [counting], ...(honours ? {} : { honoursIdempotencyKey: false }) });
  const purchase = await preparationOf(operation)(service, reseller);
  return { service, reseller, purchase, sent: () => urls.filter((url) => url.endsWith(purchase.path)).length };
}

async function lostBy(purchase: Pick<Purchase, 'make'>, fault?: Fault): Promise<OutcomeUnknownError> {
  const error: unknown = await purchase.make(timeoutFor(fault)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OutcomeUnknownError)) throw new Error('The response was not lost.', { cause: error });
  return error;
}

async function expectTruth({ service, purchase }: Setting, found: Reconciliation): Promise<void> {
  const effects = await effectsOf(service, purchase);
  expect(await purchase.kept()).toBe(effects);
  expect(found.outcome).toBe(effects === 1 ? 'committed' : 'not-committed');
  if (found.outcome !== 'committed') return;
  expect(JSON.stringify(found.data)).not.toContain('***');
  if (!found.entry) return expect(found.masked).toEqual([]);
  const kept = JSON.parse(found.entry.response_body);
  for (const path of found.masked) expect(path.split('.').reduce((value, name) => value[name], kept.data)).toBe('***');
}

test('the document has operations that cost money', () => {
  expect(billable).toContain('createVm');
});

describe.each(billable)('%s', (operation) => {
  test.each(cases)('%s, at a server that honours no keys: sends once, and reconcile reports the true outcome', async (_, fault) => {
    const setting = await setUp(operation, false);
    const { service, reseller, purchase } = setting;
    service.faults.add(fault, { path: purchase.path });
    const error = await lostBy(purchase, fault);
    expect(error).toMatchObject({ operation, attempts: 1 });
    expect(setting.sent()).toBe(1);
    const found = await reseller.reconcile(error);
    await expectTruth(setting, found);
    // A second call returns the same.
    expect(await reseller.reconcile(error)).toEqual(found);
    expect(setting.sent()).toBe(1);
  });

  test.each(cases)('%s, at a server that honours keys: retries with the same key, and buys once', async (_, fault) => {
    const setting = await setUp(operation, true);
    const { service, purchase } = setting;
    await service.reseller().vm.hosts();
    service.faults.add(fault, { path: purchase.path });
    // Every response says that the server supports keys: here, the response to an earlier operation.
    await setting.reseller.vm.hosts();
    const outcome = await purchase
      .make(timeoutFor(fault))
      .withMeta()
      .catch((error: unknown) => error);
    expect(await effectsOf(service, purchase)).toBeLessThanOrEqual(1);
    if (outcome instanceof OutcomeUnknownError) await expectTruth(setting, await setting.reseller.reconcile(outcome));
    else {
      // A second attempt that took too long was followed by a third one.
      const { attempts } = Object(outcome);
      expect(attempts).toBeGreaterThanOrEqual(2);
      if (fault.kind !== 'hang') expect(attempts).toBe(2);
      expect(await purchase.kept()).toBe(1);
    }
  });

  test.each(cases)('%s for every attempt: stops retrying, and reconcile reports the true outcome', async (_, fault) => {
    const setting = await setUp(operation, true);
    const { service, reseller, purchase } = setting;
    await reseller.vm.hosts();
    service.faults.add(fault, { path: purchase.path, times: 10 });
    const found = await reseller.reconcile(await lostBy(purchase, fault));
    expect(await effectsOf(service, purchase)).toBeLessThanOrEqual(1);
    await expectTruth(setting, found);
  });
});

/** Removes the key, so that the server also carries out a second request with the same key. */
const withoutKey: Middleware = (next) => (url, init) => {
  const headers = new Headers(init.headers);
  headers.delete('idempotency-key');
  return next(url, { ...init, headers });
};

describe('reconcile', () => {
  test.each(cases)('after %s, a call with reconcile: true returns the data or a certain failure', async (_, fault) => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    service.faults.add(fault, { path: '/vm/create' });
    const outcome = await reseller.vm
      .create(SMALL_VM, { reconcile: true, ...timeoutFor(fault) })
      .withMeta()
      .catch((error: unknown) => error);
    if ((await vmsOf(service)) === 1) {
      expect(outcome).toMatchObject({ data: { config: { cores: SMALL_VM.cores } }, masked: ['config.password'] });
      expect(outcome).not.toHaveProperty('data.config.password');
    } else {
      expect(outcome).not.toBeInstanceOf(OutcomeUnknownError);
      expect(outcome).toMatchObject({ uncertain: false });
    }
  });

  test('does not report an earlier identical purchase of this process or another one', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    await service.reseller().vm.create(SMALL_VM);
    service.clock.advance(60_000);
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    await reseller.vm.create(SMALL_VM);
    service.faults.add({ kind: 'reset', when: 'before' });
    const error = await lostBy({ make: (options) => reseller.vm.create(SMALL_VM, options) });
    expect(await reseller.reconcile(error)).toEqual({ outcome: 'not-committed' });
  });

  test('does not report an earlier purchase of another process before the first response to this client', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    await service.reseller().vm.create(SMALL_VM);
    service.clock.advance(3_600_000);
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    service.faults.add({ kind: 'reset', when: 'before' });
    const error = await lostBy({ make: (options) => reseller.vm.create(SMALL_VM, options) });
    expect(await reseller.reconcile(error)).toEqual({ outcome: 'not-committed' });
  });

  test('does not report an identical purchase of another process at the same moment', async () => {
    for (const idempotencyKey of ['order-1', undefined]) {
      const service = await createTestService();
      onTestFinished(() => service.close());
      const reseller = service.reseller({ honoursIdempotencyKey: false });
      service.faults.add({ kind: 'reset', when: 'before' });
      const error = await lostBy({
        make: (options) => reseller.vm.create(SMALL_VM, { ...options, idempotencyKey: 'order-2' }),
      });
      // By this client with another key, and by hand with the document's order of fields.
      if (idempotencyKey) await service.reseller().vm.create(SMALL_VM, { idempotencyKey });
      else {
        const body = new URLSearchParams(Object.entries(SMALL_VM).map(([name, value]) => [name, String(value)]));
        await service.fetch(`${service.baseUrl}/vm/create`, { method: 'PUT', headers: { 'x-service-apikey': service.apiKey }, body });
      }
      expect(await vmsOf(service)).toBe(1);
      expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'undecided', candidates: [{ endpoint: '/vm/create' }] });
    }
  });

  test('finds its own purchase among two identical ones', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    service.faults.add({ kind: 'reset', when: 'after' });
    const error = await lostBy({
      make: (options) => reseller.vm.create(SMALL_VM, { ...options, idempotencyKey: 'order-2' }),
    });
    const { identifier } = await service.reseller().vm.create(SMALL_VM, { idempotencyKey: 'order-1' });
    const found = await reseller.reconcile(error);
    if (found.outcome !== 'committed' || found.operation !== 'createVm') throw new Error(`It is ${found.outcome}.`);
    const ids = await service.store.read((db) => db.selectFrom('vms').select('id').execute());
    expect(ids.map(({ id }) => id).toSorted()).toEqual([identifier, found.data.identifier].toSorted());
  });

  test('does not report the refusal of an identical purchase of another process', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const { apiKey } = await service.addAccount('1.00');
    const reseller = service.reseller({ honoursIdempotencyKey: false, apiKey });
    service.faults.add({ kind: 'reset', when: 'before' });
    const error = await lostBy({
      make: (options) => reseller.vm.create(SMALL_VM, { ...options, idempotencyKey: 'order-2' }),
    });
    const other = service.reseller({ apiKey }).vm.create(SMALL_VM, { idempotencyKey: 'order-1' });
    await expect(other).rejects.toMatchObject({ status: 402 });
    const found = await reseller.reconcile(error);
    expect(found).toEqual({ outcome: 'not-committed' });
  });

  test('is undecided, with candidates, if one of two identical lost purchases was carried out', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    service.faults.add({ kind: 'reset', when: 'after' });
    service.faults.add({ kind: 'reset', when: 'before' });
    // The same key gives the same order of fields.
    const make = { make: (options?: object) => reseller.vm.create(SMALL_VM, { ...options, idempotencyKey: 'order' }) };
    const [first, second] = await Promise.all([lostBy(make), lostBy(make)]);
    for (const error of [first, second]) {
      expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'undecided', candidates: [{ endpoint: '/vm/create' }] });
    }
  });

  test('does not report a purchase twice, for two identical ones', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const reseller = service.reseller({ honoursIdempotencyKey: false, middleware: [withoutKey] });
    await reseller.vm.hosts();
    // The same key gives the same order of fields.
    const make = { make: (options?: object) => reseller.vm.create(SMALL_VM, { ...options, idempotencyKey: 'order' }) };
    service.faults.add({ kind: 'reset', when: 'after' });
    expect(await reseller.reconcile(await lostBy(make))).toMatchObject({ outcome: 'committed' });
    service.faults.add({ kind: 'reset', when: 'before' });
    expect(await reseller.reconcile(await lostBy(make))).toMatchObject({ outcome: 'not-committed' });
    expect(await vmsOf(service)).toBe(1);
  });

  test('finds both of two identical purchases that were carried out, each as a different VM', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const reseller = service.reseller({ honoursIdempotencyKey: false, middleware: [withoutKey] });
    service.faults.add({ kind: 'reset', when: 'after' }, { times: 2 });
    const make = { make: (options?: object) => reseller.vm.create(SMALL_VM, { ...options, idempotencyKey: 'order' }) };
    const errors = await Promise.all([lostBy(make), lostBy(make)]);
    const found = await Promise.all(errors.map((error) => reseller.reconcile(error)));
    const ids = found.map((each) => each.outcome === 'committed' && each.operation === 'createVm' && each.data.identifier);
    const kept = await service.store.read((db) => db.selectFrom('vms').select('id').execute());
    expect(ids.toSorted()).toEqual(kept.map(({ id }) => id).toSorted());
  });

  test('finds a request that arrives late', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    let looks = 0;
    let held: (() => Promise<Response>) | undefined;
    const late: Middleware = (next) => async (url, init) => {
      if (url.endsWith('/vm/create')) {
        const { signal: _, ...request } = init;
        held = () => next(url, request);
        throw new TypeError('fetch failed');
      }
      if (url.endsWith('/account/requests') && ++looks === 4) await held?.();
      return next(url, init);
    };
    const reseller = service.reseller({ honoursIdempotencyKey: false, middleware: [late] });
    const error = await lostBy({ make: (options) => reseller.vm.create(SMALL_VM, options) });
    expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'committed' });
    expect(await vmsOf(service)).toBe(1);
  });

  test('reports a refusal whose response was lost, with the reason', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const { apiKey } = await service.addAccount('1.00');
    const reseller = service.reseller({ honoursIdempotencyKey: false, apiKey });
    service.faults.add({ kind: 'reset', when: 'after' });
    const error = await lostBy({ make: (options) => reseller.vm.create(SMALL_VM, options) });
    expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'not-committed', entry: { error_type: 'credit_limit_exceeded' } });
  });

  test('finds a purchase behind many later entries', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    service.faults.add({ kind: 'reset', when: 'after' });
    const error = await lostBy({ make: (options) => reseller.vm.create(SMALL_VM, options) });
    for (let count = 0; count < 120; count++) await service.reseller().vm.hosts();
    expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'committed', operation: 'createVm' });
  });

  test('refuses the error of another client', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    service.faults.add({ kind: 'reset', when: 'after' });
    const error = await lostBy({ make: (options) => service.reseller().vm.create(SMALL_VM, options) });
    await expect(service.reseller().reconcile(error)).rejects.toThrow(TypeError);
  });
});

describe('a certain failure, not an unknown outcome,', () => {
  test('follows a request that was never sent', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const refused: Middleware = () => () =>
      Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }) }));
    const error: unknown = await service
      .reseller({ middleware: [refused] })
      .vm.create(SMALL_VM)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ uncertain: false });
  });

  test('follows a response that says that nothing was changed', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    service.faults.addError(503, 'unavailable', { times: 3 });
    await expect(reseller.vm.create(SMALL_VM)).rejects.toBeInstanceOf(ServerError);
    await expect(reseller.vm.reinstall(99_999)).rejects.toBeInstanceOf(NotFoundError);
  });
});
