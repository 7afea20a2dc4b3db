/**
 * Purchases through a proxy on real sockets that loses the first response and responds to the later requests itself. Whatever happens, no
 * purchase is made twice, and the client reports the true outcome of each.
 *
 * PURCHASES sets the number of purchases for each kind of broken network. The usual run has every tenth combination, and a deep run has all.
 */
import { createReseller, OutcomeUnknownError } from '@reseller/client';
import type { Reconciliation, Reseller } from '@reseller/client';
import { createServiceInside as createTestService } from '@reseller/testing/inside';
import type { ServiceInside as TestService } from '@reseller/testing/inside';
import { afterAll, describe, expect, test } from 'vitest';

import { amountOf, byDepth } from '../../../../.config/depth.ts';
import { lossesThenPages, pagesAfterPurchase, silence } from './kinds.ts';
import { startProxy } from './proxy.ts';
import type { Fate, Proxy, ProxyOptions } from './proxy.ts';
import { vmsOf } from './purchases.ts';

const PURCHASES = amountOf('PURCHASES', { usual: 2, deep: 4 });
const PURCHASES_PER_SERVICE = 200;

/** The smallest VM, so that many fit. */
const VM = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' };
/** Used only if no response comes, because a good response can take longer on a busy machine. */
const SILENT_TIMEOUT_MS = 300;

const chosen = byDepth({ usual: lossesThenPages.filter((_, index) => index % 11 === 0), deep: lossesThenPages });
const all = [...chosen, ...pagesAfterPurchase, silence];

interface Mode extends ProxyOptions {
  /** Whether the client knows before its first purchase that the server honours keys. */
  readonly isWarm: boolean;
}

const modes: Readonly<Record<string, Mode>> = {
  'warm: the client knows that the server honours keys': { isWarm: true },
  'cold: each purchase is the first call of its process': { isWarm: false },
  'a server that honours no keys': { isWarm: true, withoutKeys: true },
};

const totals = { purchases: 0, bought: 0, unknown: 0, undecided: 0, doubled: 0, wrong: 0 };

test('there are at least 40 kinds of broken networks', () => {
  expect(all.length).toBeGreaterThanOrEqual(40);
  expect(lossesThenPages.length).toBeGreaterThanOrEqual(200);
});

afterAll(() => {
  const { purchases, bought, unknown, undecided, doubled, wrong } = totals;
  process.stdout.write(
    `broken networks: ${all.length} kinds in ${Object.keys(modes).length} modes, ${purchases} purchases, ${bought} bought, ${unknown} outcomes first unknown, ${undecided} undecided, ${doubled} doubled, ${wrong} wrong\n`,
  );
});

/** A service with the proxy in front of it. */
interface Setting {
  readonly service: TestService;
  readonly proxy: Proxy;
}

describe.each(Object.entries(modes))('%s', (_, mode) => {
  let setting: Setting | undefined;
  let purchases = 0;

  /** Kinds share a service while it has room for their VMs. Each kind has its own account. */
  async function settingWithRoom(): Promise<Setting> {
    if (purchases + PURCHASES > PURCHASES_PER_SERVICE) await end();
    purchases += PURCHASES;
    setting ??= await start(mode);
    return setting;
  }

  async function end(): Promise<void> {
    setting?.proxy.close();
    await setting?.service.close();
    setting = undefined;
    purchases = 0;
  }
  afterAll(end);

  test.each(all)('%s', async (__, fates) => {
    const { service, proxy } = await settingWithRoom();
    const { apiKey } = await service.addAccount('1000000.00');
    const make = () => resellerOf(service, proxy, apiKey);
    const warm = make();
    if (mode.isWarm) await warm.vm.hosts();
    for (let count = 0; count < PURCHASES; count++) {
      const before = await vmsOf(service);
      proxy.plan(...fates);
      const outcome = await buy(mode.isWarm ? warm : make(), fates);
      proxy.plan();
      const bought = (await vmsOf(service)) - before;
      // Without keys, nothing proves a purchase whose response was lost.
      const isUnproven = mode.withoutKeys === true && outcome === 'undecided';
      const truth = isUnproven ? 'undecided' : bought === 1 ? 'committed' : 'not-committed';
      totals.purchases++;
      totals.bought += bought;
      if (bought > 1) totals.doubled++;
      if (outcome !== truth) totals.wrong++;
      expect({ bought: bought > 1, outcome }).toEqual({ bought: false, outcome: truth });
    }
  });
});

async function start(options: ProxyOptions): Promise<Setting> {
  const service = await createTestService();
  return { service, proxy: await startProxy(await service.listen(), options) };
}

/** Pauses take no time, and timeouts take real time, because the network is real. */
function resellerOf({ clock: time }: TestService, { baseUrl }: Proxy, apiKey: string): Reseller {
  const clock = { now: () => time.now(), sleep: (milliseconds: number) => time.sleep(milliseconds) };
  return createReseller({ apiKey, baseUrl, clock, logLevel: 'off' });
}

/** Buys a VM, and returns the outcome that the client reports. */
async function buy(reseller: Reseller, fates: readonly Fate[]): Promise<Reconciliation['outcome']> {
  try {
    await reseller.vm.create(VM, fates.some(({ kind }) => kind === 'hang') ? { timeoutMs: SILENT_TIMEOUT_MS } : {});
    return 'committed';
  } catch (error) {
    if (!(error instanceof OutcomeUnknownError)) return 'not-committed';
    totals.unknown++;
    const { outcome } = await reseller.reconcile(error);
    if (outcome === 'undecided') totals.undecided++;
    return outcome;
  }
}
