/** Whatever happens to the response, a purchase happens at most once, and `reconcile` reports the true outcome. */
import { ConnectionError, NotFoundError, OutcomeUnknownError } from '@reseller/client';
import type { Middleware, Reconciliation, Reseller } from '@reseller/client';
import type { Fault } from '@reseller/testing';
import { createServiceInside as createTestService } from '@reseller/testing/inside';
import type { ServiceInside as TestService } from '@reseller/testing/inside';
import { describe, expect, onTestFinished, test } from 'vitest';

import { byDepth } from '../../../../.config/depth.ts';
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

async function lostBy(purchase: Pick<Purchase, 'make'>): Promise<OutcomeUnknownError> {
  const error: unknown = await purchase.make().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OutcomeUnknownError)) throw new Error('The response was not lost.', { cause: error });
  return error;
}

/** @param unproven What `reconcile` says of a purchase that was not carried out. */
async function expectTruth(
  { service, purchase }: Setting,
  found: Reconciliation,
  unproven: 'undecided' | 'not-committed' = 'not-committed',
): Promise<void> {
  const effects = await effectsOf(service, purchase);
  expect(await purchase.kept()).toBe(effects);
  expect(found.outcome).toBe(effects === 1 ? 'committed' : unproven);
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
  // The usual run has all faults for one operation, and the resets for the others.
  const isCovered = byDepth({ usual: operation === 'createVm', deep: true });
  const cases = Object.entries(faults).filter(([name]) => isCovered || name.startsWith('a reset'));

  test.each(cases)('%s, at a server that honours no keys: sends once, and reconcile reports the true outcome', async (_, fault) => {
    const setting = await setUp(operation, false);
    const { service, reseller, purchase } = setting;
    service.faults.add(fault, { path: purchase.path });
    const error = await lostBy(purchase);
    expect(error).toMatchObject({ operation, attempts: 1 });
    expect(setting.sent()).toBe(1);
    const found = await reseller.reconcile(error);
    // That an entry is missing proves nothing.
    await expectTruth(setting, found, 'undecided');
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
      .make()
      .withMeta()
      .catch((error: unknown) => error);
    expect(await effectsOf(service, purchase)).toBeLessThanOrEqual(1);
    if (outcome instanceof OutcomeUnknownError) await expectTruth(setting, await setting.reseller.reconcile(outcome));
    else {
      expect(Object(outcome).attempts).toBe(2);
      expect(await purchase.kept()).toBe(1);
    }
  });

  test.each(cases)('%s for every attempt: stops retrying, and reconcile reports the true outcome', async (_, fault) => {
    const setting = await setUp(operation, true);
    const { service, reseller, purchase } = setting;
    await reseller.vm.hosts();
    // The three attempts of the call, and the first three of reconcile.
    service.faults.add(fault, { path: purchase.path, times: 6 });
    const found = await reseller.reconcile(await lostBy(purchase));
    expect(await effectsOf(service, purchase)).toBeLessThanOrEqual(1);
    await expectTruth(setting, found);
  });
});

/** A client in another process does not know the requests of this one. It has a clock object of its own, so it shares no record. */
function inAnotherProcess(service: TestService, apiKey = service.apiKey): Reseller {
  const { clock } = service;
  return service.reseller({ apiKey, clock: { now: () => clock.now(), sleep: (milliseconds) => clock.sleep(milliseconds) } });
}

describe('reconcile', () => {
  test('does not report an earlier identical purchase of this process or another one', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    await inAnotherProcess(service).vm.create(SMALL_VM);
    service.clock.advance(3_600_000);
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    await reseller.vm.create(SMALL_VM);
    service.faults.add({ kind: 'reset', when: 'before' });
    const error = await lostBy({ make: (options) => reseller.vm.create(SMALL_VM, options) });
    expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'undecided', candidates: [] });
  });

  test('does not report an earlier purchase of another process before the first response to this client', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    await inAnotherProcess(service).vm.create(SMALL_VM);
    service.clock.advance(3_600_000);
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    service.faults.add({ kind: 'reset', when: 'before' });
    const error = await lostBy({ make: (options) => reseller.vm.create(SMALL_VM, options) });
    expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'undecided', candidates: [] });
  });

  test('does not report an identical purchase of another process at the same moment', async () => {
    for (const when of ['before', 'after'] as const) {
      const service = await createTestService();
      onTestFinished(() => service.close());
      const reseller = service.reseller({ honoursIdempotencyKey: false });
      service.faults.add({ kind: 'reset', when });
      const error = await lostBy({ make: (options) => reseller.vm.create(SMALL_VM, options) });
      await inAnotherProcess(service).vm.create(SMALL_VM);
      expect(await vmsOf(service)).toBe(when === 'before' ? 1 : 2);
      const found = await reseller.reconcile(error);
      if (when === 'before') expect(found).toMatchObject({ outcome: 'undecided', candidates: [] });
      else expect(found).toMatchObject({ outcome: 'committed', entry: { requestID: expect.any(String) } });
    }
  });

  test('does not report the refusal of an identical purchase of another process', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const { apiKey } = await service.addAccount('1.00');
    const reseller = service.reseller({ honoursIdempotencyKey: false, apiKey });
    service.faults.add({ kind: 'reset', when: 'before' });
    const error = await lostBy({ make: (options) => reseller.vm.create(SMALL_VM, options) });
    await expect(inAnotherProcess(service, apiKey).vm.create(SMALL_VM)).rejects.toMatchObject({ status: 402 });
    expect(await reseller.reconcile(error)).toMatchObject({ outcome: 'undecided', candidates: [] });
  });

  test('tells two identical purchases apart, of which one was carried out', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    const make = { make: (options?: object) => reseller.vm.create(SMALL_VM, options) };
    service.faults.add({ kind: 'reset', when: 'after' });
    expect(await reseller.reconcile(await lostBy(make))).toMatchObject({ outcome: 'committed' });
    service.faults.add({ kind: 'reset', when: 'before' });
    expect(await reseller.reconcile(await lostBy(make))).toMatchObject({ outcome: 'undecided', candidates: [] });
    expect(await vmsOf(service)).toBe(1);
  });

  test('finds both of two identical purchases that were carried out, each as a different VM', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    service.faults.add({ kind: 'reset', when: 'after' }, { times: 2 });
    const make = { make: (options?: object) => reseller.vm.create(SMALL_VM, options) };
    const errors = await Promise.all([lostBy(make), lostBy(make)]);
    const found = await Promise.all(errors.map((error) => reseller.reconcile(error)));
    const ids = found.map((each) => each.outcome === 'committed' && each.operation === 'createVm' && each.data.identifier);
    const kept = await service.store.read((db) => db.selectFrom('vms').select('id').execute());
    expect(ids.toSorted()).toEqual(kept.map(({ id }) => id).toSorted());
  });

  test.each([31_000, 45_000, 89_000])('finds a request that is carried out %i ms after it was sent', async (milliseconds) => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    service.faults.add({ kind: 'late', milliseconds }, { path: '/vm/create' });
    const error = await lostBy({ make: (options) => reseller.vm.create(SMALL_VM, options) });
    expect(await vmsOf(service)).toBe(0);
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
    expect(await reseller.reconcile(error)).toMatchObject({
      outcome: 'not-committed',
      entry: { error_type: 'credit_limit_exceeded' },
    });
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

  test('takes the error of another client of the account, and refuses that of another account', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    service.faults.add({ kind: 'reset', when: 'after' });
    const error = await lostBy({ make: (options) => service.reseller().vm.create(SMALL_VM, options) });
    const { apiKey } = await service.addAccount();
    await expect(service.reseller({ apiKey }).reconcile(error)).rejects.toThrow(TypeError);
    expect(await service.reseller().reconcile(error)).toMatchObject({ outcome: 'committed' });
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
    await expect(reseller.vm.reinstall(99_999)).rejects.toBeInstanceOf(NotFoundError);
  });

  test('does not follow a 503, which a service may also send after it has carried out a request', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const reseller = service.reseller({ honoursIdempotencyKey: false });
    service.faults.addError(503, 'unavailable', { when: 'after', times: 3 });
    await expect(reseller.vm.create(SMALL_VM)).rejects.toMatchObject({ name: 'OutcomeUnknownError', attempts: 1 });
    expect(await vmsOf(service)).toBe(1);
    service.faults.clear();
  });

  test('follows a middleware that fails before it passes the request on', async () => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const failing: Middleware = () => () => Promise.reject(new Error('no token'));
    await expect(service.reseller({ middleware: [failing], maxRetries: 0 }).vm.create(SMALL_VM)).rejects.toMatchObject({
      name: 'ConnectionError',
      uncertain: false,
      message: expect.stringContaining('no token'),
    });
  });
});
