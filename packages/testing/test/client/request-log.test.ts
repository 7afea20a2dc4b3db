/** The request log of servers that log its reading and of servers that do not, and what `reconcile` reads of it. */
import { createReseller, OutcomeUnknownError } from '@reseller/client';
import type { Reconciliation, Reseller } from '@reseller/client';
import { createServiceInside as createTestService } from '@reseller/testing/inside';
import type { ServiceInside as TestService } from '@reseller/testing/inside';
import { describe, expect, onTestFinished, test } from 'vitest';

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
  /** A client of another process: it remembers nothing of the others. */
  client(): Reseller;
}

async function setUp(options: ProxyOptions): Promise<Setting> {
  const service = await createTestService();
  onTestFinished(() => service.close());
  const proxy = await startProxy(await service.listen(), options);
  onTestFinished(() => proxy.close());
  const { apiKey } = await service.addAccount('1000000.00');
  const { clock } = service;
  return { service, proxy, client: () => createReseller({ apiKey, baseUrl: proxy.baseUrl, clock }) };
}

const servers: readonly (readonly [string, ProxyOptions])[] = [
  ['that logs the reading of its log', {}],
  ['that does not log it', { withoutReadsInLog: true }],
];

describe.each(servers)('a server %s', (_, options) => {
  test.each([
    ['no other request arrives', 0],
    ['a few arrive', 7],
    ['more than a page arrives', 60],
    ['more than everything that was read arrives', 180],
  ])('returns all 120 entries once when between two pages %s', async (__, arrivals) => {
    const { client } = await setUp(options);
    const [reader, other] = [client(), client()];
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

  test('reconcile finds a purchase that was the first call of its process, on a server that honours no keys', async () => {
    const { service, proxy, client } = await setUp({ ...options, withoutKeys: true });
    // An identical purchase of another process, long before.
    await client().vm.create(VM);
    service.clock.advance(3_600_000);
    const reseller = client();
    proxy.plan(LOST);
    expect((await lose(reseller)).outcome).toBe('committed');
    expect(await vmsOf(service)).toBe(2);
  });

  test('reconcile finds that a purchase never arrived, likewise', async () => {
    const { service, proxy, client } = await setUp({ ...options, withoutKeys: true });
    await client().vm.create(VM);
    service.clock.advance(3_600_000);
    const reseller = client();
    proxy.plan(NEVER_ARRIVED);
    expect((await lose(reseller)).outcome).toBe('not-committed');
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

const AT_ONCE = 200;
const MAX_READS_PER_PURCHASE = 5;

describe.each([
  ['honours keys', {}],
  ['honours no keys', { withoutKeys: true }],
] as const)('200 purchases lost at once, on a server that %s', (_, options) => {
  test.each([
    ['after they were carried out', LOST],
    ['before they arrived', NEVER_ARRIVED],
  ])('%s: all are decided, with at most 5 readings of the log for each', { timeout: 300_000 }, async (__, fate) => {
    const { service, proxy, client } = await setUp(options);
    const reseller = client();
    proxy.plan(...Array.from({ length: AT_ONCE }, () => fate));
    // A call may learn meanwhile that the server honours keys, and then ends well by itself.
    const buy = () =>
      reseller.vm.create(VM).then(
        () => ({ outcome: 'committed' }),
        (error: unknown) => decide(reseller, error),
      );
    const found = await Promise.all(Array.from({ length: AT_ONCE }, buy));
    expect(proxy.count(LOG)).toBeLessThanOrEqual(MAX_READS_PER_PURCHASE * AT_ONCE);
    const committed = found.filter(({ outcome }) => outcome === 'committed').length;
    const undecided = found.filter(({ outcome }) => outcome === 'undecided').length;
    const vms = await vmsOf(service);
    // Identical requests whose fields happen to be in the same order cannot be told apart without a key.
    if ('withoutKeys' in options) expect(vms - committed).toBeLessThanOrEqual(undecided);
    else expect([committed, undecided]).toEqual([vms, 0]);
    expect(vms).toBeLessThanOrEqual(AT_ONCE);
  });
});

test('20 processes that lose a purchase each at once read the log at most 5 times each', { timeout: 300_000 }, async () => {
  const PROCESSES = 20;
  for (const [fate, outcome] of [
    [LOST, 'committed'],
    [NEVER_ARRIVED, 'not-committed'],
  ] as const) {
    const { service, proxy, client } = await setUp({ withoutKeys: true });
    proxy.plan(...Array.from({ length: PROCESSES }, () => fate));
    // Each buys something else, so that every one of them can be told from the others.
    const found = await Promise.all(
      Array.from({ length: PROCESSES }, async (_, index) => {
        const reseller = client();
        const error: unknown = await reseller.vm.create({ ...VM, disk: 10 + index * 5 }).catch((thrown: unknown) => thrown);
        if (!(error instanceof OutcomeUnknownError)) throw new Error('The response was not lost.', { cause: error });
        return (await reseller.reconcile(error)).outcome;
      }),
    );
    expect(found).toEqual(Array.from({ length: PROCESSES }, () => outcome));
    expect(await vmsOf(service)).toBe(fate === LOST ? PROCESSES : 0);
    expect(proxy.count(LOG)).toBeLessThanOrEqual(MAX_READS_PER_PURCHASE * PROCESSES);
  }
});

test('reconcile with resend: false only looks', async () => {
  const { service, proxy, client } = await setUp({});
  const reseller = client();
  proxy.plan(NEVER_ARRIVED);
  const error: unknown = await reseller.vm.create(VM).catch((thrown: unknown) => thrown);
  if (!(error instanceof OutcomeUnknownError)) throw new Error('The response was not lost.', { cause: error });
  expect(await reseller.reconcile(error, { resend: false })).toEqual({ outcome: 'not-committed' });
  expect([proxy.count('/vm/create'), await vmsOf(service)]).toEqual([1, 0]);
});
