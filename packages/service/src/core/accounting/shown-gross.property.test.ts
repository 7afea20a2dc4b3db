/** The gross price that is shown before a purchase is the gross amount of an invoice with this purchase alone. */
import * as operator from '@reseller/operator-client';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { amountOf, byDepth } from '../../../../../.config/depth.ts';
import { register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import type { Engine } from '../../../test/engines.ts';
import { startOperator } from '../../../test/operator.ts';

const RUNS = amountOf('PROPERTY_RUNS', { usual: 1, deep: 3 });
/** Purchases of a run, each with its price. The store of a test has 256 free IPv4 addresses at a location. */
const PURCHASES = byDepth({ usual: 6, deep: 200 });

/** Prices with up to eight decimals, of which the last digits of a cent are often near one half. */
const price = fc
  .tuple(fc.integer({ min: 0, max: 9_999 }), fc.constantFrom(0, 1, 499_999, 500_000, 500_001, 999_999, 123_457))
  .map(([cents, units]) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}${String(units).padStart(6, '0')}`);

const rate = fc.constantFrom(1, 500, 700, 1_900, 2_550, 9_999);

test.each(engines)('on %s, the gross price of a domain and of 30 days of a VM is that of an invoice with it alone', async (engine) => {
  // All purchases of a run are in one service, so there is nothing to shrink.
  await fc.assert(
    fc.asyncProperty(fc.array(price, { minLength: PURCHASES, maxLength: PURCHASES }), rate, async (prices, basisPoints) => {
      const { shown, invoiced } = await grossOfPurchases(engine, ['1.005', ...prices], basisPoints);
      expect(invoiced).toEqual(shown);
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});

/** The gross amounts of purchases at these net prices, by API key: as shown before, and as invoiced. */
async function grossOfPurchases(engine: Engine, netPrices: readonly string[], basis_points: number) {
  const service = await startOperator({ engine });
  const { client, clock } = service;
  await operator.setVatRates({ client, body: { vat_rates: [{ basis_points, valid_from: '2026-11-10' }] } });
  // April has 30 days, so its invoice has the price of 30 days.
  clock.advanceTo('2027-04-01T00:00:00Z');
  const { nodes, ...host } = await operator.getHostSystem({ client, path: { hostsystem: 'nl_ryzen' } });
  const free = '0.00';
  const shown = new Map<string, number>();
  for (const one of netPrices) {
    const { name: _, ...body } = host;
    const prices = { ...host.prices, core: one, mem: free, nvme: free };
    const bare = nodes.map(({ name, cores, mem, disk, storage }) => ({ name, cores, mem, disk, storage }));
    await operator.defineHostSystem({ client, path: { hostsystem: host.name }, body: { ...body, nodes: bare, prices } });
    const { apiKey } = await service.account();
    const form = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' };
    const created = await service.call('createVm', { form, apiKey });
    shown.set(apiKey, created.body.data.pricings.monthly_gross);

    const versions = { create: one, renew: free, transfer: free };
    await operator.setTldPrice({ client, path: { tld: 'net' }, body: versions });
    const other = await service.account();
    shown.set(other.apiKey, (await service.call('getDomainPricings')).body.data.net.price_gross.create);
    await register(service, `name-${shown.size}.net`, other.apiKey);
  }
  clock.advanceTo('2027-05-01T00:00:00Z');
  await service.runScheduledJobs();
  const invoiced = new Map<string, number>();
  for (const apiKey of shown.keys()) {
    const [document] = (await service.call('listDocuments', { apiKey })).body.data.list;
    invoiced.set(apiKey, document.gross);
  }
  return { shown, invoiced };
}
