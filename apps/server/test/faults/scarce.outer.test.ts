/** 200 concurrent purchases compete for resources that suffice for 37. */
import { createSale, defineIpPool, listSales } from '@reseller/operator-client';
import { expectInvariants } from '@reseller/service/test/invariants.ts';
import { expect, test } from 'vitest';

import { byDepth, TEST_TIMEOUT_MS } from '../../../../.config/depth.ts';
import { startServer } from '../process.ts';
import type { Server } from '../process.ts';
import { tell } from './figures.ts';
import { leftReservations } from './kept.ts';
import { newPlace } from './place.ts';
import type { Engine } from './place.ts';
import { goToMidMonth, newAccount, operatorOf } from './provider.ts';
import type { Account } from './provider.ts';
import { ROUNDS } from './random.ts';
import { fetchOf, vmPurchase } from './request.ts';
import type { ServiceResponse } from './request.ts';

const ASKING = 200;
const ENOUGH_FOR = 37;
/** Net price in EUR for 30 days of the VM of `vmPurchase` on nl_ryzen, at standard prices: 1 core, 1 GB of memory, 10 GB of NVMe. */
const MONTHLY = 2 + 1.2 + 10 * 0.04;

interface Scarce {
  readonly name: string;
  /** Response to the purchases that are refused. */
  readonly refusal: { readonly status: number; readonly type: string };
  /** Creates an account with enough for a number of purchases. */
  prepare(server: Server, now: Date): Promise<Account>;
  expectUsedUp?(server: Server, account: Account): Promise<void>;
}

/** Credit that one VM needs if it is bought now, in EUR. */
function holdAt(now: Date): number {
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  return (MONTHLY * (end - now.getTime())) / (30 * 86_400_000);
}

const scarcities: readonly Scarce[] = [
  {
    name: 'credit',
    refusal: { status: 402, type: 'credit_limit_exceeded' },
    prepare: (server, now) => newAccount(server, ((ENOUGH_FOR + 0.5) * holdAt(now)).toFixed(2)),
  },
  {
    name: 'volume of a sale',
    refusal: { status: 402, type: 'credit_limit_exceeded' },
    async prepare(server, now) {
      // Enough for many VMs at sale prices, but for none at standard prices.
      const account = await newAccount(server, (0.9 * holdAt(now)).toFixed(2));
      const body = {
        title: 'Scarce',
        upgradable: false,
        max_volume: ENOUGH_FOR,
        account_id: account.id,
        pricings: { nl_ryzen: { core: '0.01', mem: '0.01', nvme: '0.001' } },
      };
      await createSale({ client: operatorOf(server), body });
      return account;
    },
    async expectUsedUp(server, account) {
      const { items } = await listSales({ client: operatorOf(server), query: { limit: 100 } });
      expect(items.filter((sale) => sale.account_id === account.id)).toMatchObject([{ used_volume: ENOUGH_FOR, max_volume: ENOUGH_FOR }]);
    },
  },
  {
    name: 'addresses',
    refusal: { status: 409, type: 'out_of_capacity' },
    async prepare(server) {
      const account = await newAccount(server);
      // A subnet of 64 addresses has 61 for VMs, without its network, gateway and broadcast addresses.
      const body = { datacenter: 'AMS1', account_id: account.id, cidr: nextSubnet(), ddos_protection: 'Arbor' };
      await defineIpPool({ client: operatorOf(server), path: { ip_pool_id: `scarce-${account.id.slice(-12)}` }, body });
      for (let left = 61; left > ENOUGH_FOR; left -= 4) {
        const { path, method, form } = vmPurchase('first');
        const response = await fetchOf(server.baseUrl, account.apiKey, { path, method, form: { ...form, ips: '4' } });
        expect(response.status).toBe(200);
      }
      return account;
    },
  },
];

let subnets = 0;
/** Subnets of the address space for benchmarks (RFC 2544), which a sandbox does not use otherwise. */
function nextSubnet(): string {
  const number = subnets++;
  return `198.18.${Math.floor(number / 4)}.${(number % 4) * 64}/26`;
}

const ALL_SET_UPS: readonly (readonly [Engine, number])[] = [
  ['sqlite', 1],
  ['postgres', 2],
  ['postgres', 1],
];
const setUps = byDepth({ usual: ALL_SET_UPS.slice(0, 1), deep: ALL_SET_UPS });

test.each(setUps)(
  `%s with %i instance(s): of ${ASKING} purchases at once exactly ${ENOUGH_FOR} succeed, ${ROUNDS} times for each thing that is scarce`,
  { timeout: TEST_TIMEOUT_MS + ROUNDS * 60_000 },
  async (engine, instances) => {
    const place = await newPlace(engine);
    const servers = [await startServer(place.environment())];
    while (servers.length < instances) servers.push(await startServer(place.environment()));
    const [server] = servers;
    if (!server) throw new Error('There is no instance.');
    const now = await goToMidMonth(server);
    for (let round = 0; round < ROUNDS; round++) {
      for (const { name, refusal, prepare, expectUsedUp } of scarcities) {
        const account = await prepare(server, now);
        const before = (await boughtVms(server, account)).length;
        const begun = performance.now();
        const responses = await Promise.all(
          Array.from({ length: ASKING }, (_, number) => {
            const { baseUrl } = servers[number % instances] ?? server;
            return fetchOf(baseUrl, account.apiKey, vmPurchase(`scarce-${number}`, { key: `scarce-${number}` }));
          }),
        );
        tell(`${engine}, ${instances} instance(s), ${name}: ${ASKING} responses within ${Math.round(performance.now() - begun)} ms`);
        expect(tally(responses)).toEqual({ '200 success': ENOUGH_FOR, [`${refusal.status} ${refusal.type}`]: ASKING - ENOUGH_FOR });
        expect((await boughtVms(server, account)).length - before).toBe(ENOUGH_FOR);
        await expectUsedUp?.(server, account);
        // The resource is used up, so the next purchase is refused like the others.
        const next = await fetchOf(server.baseUrl, account.apiKey, vmPurchase('next'));
        expect({ status: next.status, type: next.body.type }).toEqual(refusal);
        await place.examine(async (store) => {
          expect(await leftReservations(store)).toEqual([]);
          await expectInvariants(store);
        });
      }
    }
  },
);

/** Identifiers of the VMs on the current invoice. */
async function boughtVms({ baseUrl }: Server, { apiKey }: Account): Promise<string[]> {
  const { body } = await fetchOf(baseUrl, apiKey, { method: 'GET', path: '/accounting/invoices/current' });
  return Object.keys(body.data.positions.vms);
}

/** Number of responses of each kind. */
function tally(responses: readonly ServiceResponse[]): Record<string, number> {
  const kinds = Map.groupBy(responses, ({ status, body }) => `${status} ${body.type ?? body.status}`);
  return Object.fromEntries([...kinds].map(([kind, same]) => [kind, same.length]));
}
