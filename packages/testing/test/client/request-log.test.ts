/** The request log of servers that log its reads and of servers that do not, and its use by `reconcile`. */
import { createReseller, OutcomeUnknownError } from '@reseller/client';
import type { Reconciliation, Reseller } from '@reseller/client';
import { createServiceInside as createTestService } from '@reseller/testing/inside';
import type { ServiceInside as TestService } from '@reseller/testing/inside';
import { describe, expect, onTestFinished, test } from 'vitest';

import { byDepth } from '../../../../.config/depth.ts';
import { startProxy } from './proxy.ts';
import type { Fate, Proxy, ProxyOptions } from './proxy.ts';
import { vmsOf } from './purchases.ts';

const VM = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' };
const LOG = '/account/requests';
const LOST: Fate = { kind: 'reset', when: 'after' };
const NEVER_ARRIVED: Fate = { kind: 'reset', when: 'before' };

interface Setting {
  readonly service: TestService;
  readonly proxy: Proxy;
  /** A client of another process, without the memory of the others. */
  client(): Reseller;
  /** A client of the same account next to the proxy, for requests that only fill the log. */
  readonly direct: Reseller;
}

async function setUp(options: ProxyOptions): Promise<Setting> {
  const service = await createTestService();
  onTestFinished(() => service.close());
  const proxy = await startProxy(await service.listen(), options);
  onTestFinished(() => proxy.close());
  const { apiKey } = await service.addAccount('1000000.00');
  const { clock } = service;
  return {
    service,
    proxy,
    client: () => createReseller({ apiKey, baseUrl: proxy.baseUrl, clock }),
    direct: service.reseller({ apiKey }),
  };
}

const servers: readonly (readonly [string, ProxyOptions])[] = [
  ['that logs reads of its log', {}],
  ['that does not log them', { withoutReadsInLog: true }],
];

describe.each(servers)('a server %s', (_, options) => {
  test.each([
    ['no other request arrives', 0],
    ['a few arrive', 7],
    ['more than a page arrives', 60],
    ['more than everything that was read arrives', 180],
  ])('returns all 120 entries once if between two pages %s', async (__, arrivals) => {
    const { client, direct: other } = await setUp(options);
    const reader = client();
    const expected: string[] = [];
    for (let count = 0; count < 120; count++) expected.unshift((await other.vm.hosts().withMeta()).requestID ?? '');
    const read: string[] = [];
    let pages = 0;
    for await (const page of reader.account.requests().pages()) {
      read.push(...page.map(({ requestID }) => requestID));
      if (++pages === 1) for (let count = 0; count < arrivals; count++) await other.vm.hosts();
    }
    expect(read).toEqual(expected);
  });

  test('reconcile names the entry of a purchase that was the first call of its process as a candidate, on a server that honours no keys', async () => {
    const { service, proxy, client } = await setUp({ ...options, withoutKeys: true });
    // An identical purchase of another process, long ago.
    await client().vm.create(VM);
    service.clock.advance(3_600_000);
    const reseller = client();
    proxy.plan(LOST);
    expect(await lose(reseller)).toMatchObject({ outcome: 'undecided', candidates: [{ endpoint: '/vm/create' }] });
    expect(await vmsOf(service)).toBe(2);
  });

  test('reconcile is undecided about a purchase that never arrived, under the same conditions', async () => {
    const { service, proxy, client } = await setUp({ ...options, withoutKeys: true });
    await client().vm.create(VM);
    service.clock.advance(3_600_000);
    const reseller = client();
    proxy.plan(NEVER_ARRIVED);
    expect(await lose(reseller)).toMatchObject({ outcome: 'undecided', candidates: [] });
    expect(await vmsOf(service)).toBe(1);
  });
});

async function lose(reseller: Reseller): Promise<Reconciliation> {
  return decide(reseller, await reseller.vm.create(VM).catch((thrown: unknown) => thrown));
}

async function decide(reseller: Reseller, error: unknown): Promise<Reconciliation> {
  if (!(error instanceof OutcomeUnknownError)) throw new Error('The response was not lost.', { cause: error });
  return reseller.reconcile(error);
}

const CONCURRENT_PURCHASES = byDepth({ usual: 40, deep: 200 });
const MAX_READS_PER_PURCHASE = 5;

describe.each([
  ['honours keys', {}],
  ['honours no keys', { withoutKeys: true }],
] as const)('many purchases lost at once, on a server that %s', (_, options) => {
  test.each([
    ['after they were carried out', LOST],
    ['before they arrived', NEVER_ARRIVED],
  ])('%s: decides or reports all of them with at most 5 reads of the log for each', async (__, fate) => {
    const { service, proxy, client } = await setUp(options);
    const reseller = client();
    proxy.plan(...Array.from({ length: CONCURRENT_PURCHASES }, () => fate));
    // A call may succeed without reconcile if it learns meanwhile that the server honours keys.
    const buy = () =>
      reseller.vm.create(VM).then(
        () => ({ outcome: 'committed' }),
        (error: unknown) => decide(reseller, error),
      );
    const found = await Promise.all(Array.from({ length: CONCURRENT_PURCHASES }, buy));
    expect(proxy.count(LOG)).toBeLessThanOrEqual(MAX_READS_PER_PURCHASE * CONCURRENT_PURCHASES);
    const committed = found.filter(({ outcome }) => outcome === 'committed').length;
    const undecided = found.filter(({ outcome }) => outcome === 'undecided').length;
    const vms = await vmsOf(service);
    // Identical requests cannot be distinguished without a key.
    if ('withoutKeys' in options) expect(vms - committed).toBeLessThanOrEqual(undecided);
    else expect([committed, undecided]).toEqual([vms, 0]);
    expect(vms).toBeLessThanOrEqual(CONCURRENT_PURCHASES);
  });
});

test('20 processes that lose one purchase each at the same time read the log a limited number of times', { tags: 'deep' }, async () => {
  const PROCESSES = 20;
  // Each of them sees the purchases of the others, which may be its own purchase in another notation.
  for (const fate of [LOST, NEVER_ARRIVED]) {
    const { service, proxy, client } = await setUp({ withoutKeys: true });
    proxy.plan(...Array.from({ length: PROCESSES }, () => fate));
    const found = await Promise.all(
      Array.from({ length: PROCESSES }, async (_, index) => {
        const reseller = client();
        const error: unknown = await reseller.vm.create({ ...VM, disk: 10 + index * 5 }).catch((thrown: unknown) => thrown);
        if (!(error instanceof OutcomeUnknownError)) throw new Error('The response was not lost.', { cause: error });
        return (await reseller.reconcile(error)).outcome;
      }),
    );
    expect(found).toEqual(Array.from({ length: PROCESSES }, () => 'undecided'));
    expect(await vmsOf(service)).toBe(fate === LOST ? PROCESSES : 0);
    // Each waits for the whole time, so it reads the log three times. The readings are in the log too, so it has several pages.
    expect(proxy.count(LOG)).toBeLessThanOrEqual(3 * MAX_READS_PER_PURCHASE * PROCESSES);
  }
});

test('reconcile with resend: false only reads the log', async () => {
  const { service, proxy, client } = await setUp({});
  const reseller = client();
  proxy.plan(NEVER_ARRIVED);
  const error: unknown = await reseller.vm.create(VM).catch((thrown: unknown) => thrown);
  if (!(error instanceof OutcomeUnknownError)) throw new Error('The response was not lost.', { cause: error });
  expect(await reseller.reconcile(error, { resend: false })).toMatchObject({ outcome: 'undecided', candidates: [] });
  expect([proxy.count('/vm/create'), await vmsOf(service)]).toEqual([1, 0]);
});
