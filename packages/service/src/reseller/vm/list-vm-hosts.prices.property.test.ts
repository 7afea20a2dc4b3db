/** The price of a VM follows from the prices of the host systems by the formula of the document ("Billing"). */
import type { Sale, VmHost } from '@reseller/client';
import * as operator from '@reseller/operator-client';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { amountOf } from '../../../../../.config/depth.ts';
import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

/** Number of price lists. */
const RUNS = amountOf('PROPERTY_RUNS', { usual: 8, deep: 200 });

/** Up to 9.99999999 EUR, with up to eight decimals. */
const price = fc.integer({ min: 0, max: 999_999_999 }).map((units) => (units / 1e8).toFixed(8));
const prices = fc.record({
  core: price,
  mem: price,
  nvme: price,
  hdd: price,
  extra_ip: price,
  extra_backup_slot: price,
  extra_gbit: price,
});
/** The sale price of each resource as a percentage of its standard price. */
const percent = fc.integer({ min: 0, max: 100 });
const discount = fc.record({ core: percent, mem: percent, nvme: percent }, { requiredKeys: ['core'] });
const form = {
  cores: fc.integer({ min: 1, max: 16 }),
  mem: fc.integer({ min: 2, max: 32 }).map((halves) => halves * 512),
  disk: fc.integer({ min: 2, max: 40 }).map((fives) => fives * 5),
  ips: fc.integer({ min: 1, max: 4 }),
  backup_slots: fc.integer({ min: 0, max: 10 }),
};
const hundreds = (max: number) => fc.integer({ min: 1, max }).map((count) => count * 100);
const requiredKeys: ['hostsystem', 'cores', 'mem', 'disk'] = ['hostsystem', 'cores', 'mem', 'disk'];
/** HDD storage in Frankfurt, more than the included speed in the Netherlands. */
const forms: fc.Arbitrary<Form> = fc.oneof(
  fc.record({ hostsystem: fc.constant('de_epyc'), ...form, network_speed: hundreds(10), storage: hundreds(50) }, { requiredKeys }),
  fc.record({ hostsystem: fc.constant('nl_ryzen'), ...form, network_speed: hundreds(50) }, { requiredKeys }),
);
type Discount = typeof discount extends fc.Arbitrary<infer Value> ? Value : never;
interface Form {
  readonly hostsystem: string;
  readonly cores: number;
  readonly mem: number;
  readonly disk: number;
  readonly ips?: number;
  readonly backup_slots?: number;
  readonly network_speed?: number;
  readonly storage?: number;
}

test('the documented formula gives the exact monthlyPrice of the invoice, with and without a sale', async () => {
  const service = await startOperator({ creditLimit: '9999999.00' });
  await fc.assert(
    fc.asyncProperty(prices, fc.array(discount, { maxLength: 2 }), forms, async (listed, discounts, requested) => {
      const { hostsystem } = requested;
      await setPrices(service, hostsystem, listed);
      for (const one of discounts) await sell(service, hostsystem, applyDiscount(listed, one));
      const hosts: VmHost[] = (await service.call('listVmHosts')).body.data;
      const sales: Sale[] = (await service.call('listSales')).body.data;
      const host = hosts.find(({ name }) => name === hostsystem);
      expect(host?.prices).toMatchObject({ core: { price_net: expect.stringMatching(/^\d\.\d{2,8}$/) } });

      const { status, body } = await service.call('createVm', { form: { ...requested, os: 'debian_12' } });
      expect(status, `${body.message}`).toBe(200);
      const invoice = (await service.call('getCurrentInvoice')).body.data;
      const [position] = invoice.positions.vms[body.data.identifier];
      expect(position.monthlyPrice).toBe(numberOf(documentedPrice(requested, host, sales)));
      for (const { id } of (await operator.listSales({ client: service.client, query: { state: 'active' } })).items)
        await operator.endSale({ client: service.client, path: { sale_id: id } });
    }),
    { numRuns: RUNS },
  );
});

test('returns no HDD price for a host system without HDD storage', async () => {
  const service = await startOperator();
  const hosts: VmHost[] = (await service.call('listVmHosts')).body.data;
  expect(hosts.map(({ name, prices: listed, configuration }) => [name, 'hdd' in Object(listed), 'storage' in configuration])).toEqual([
    ['de_epyc', true, true],
    ['de_xeon', true, true],
    ['nl_ryzen', false, false],
  ]);
});

/** Sets the prices of a host system. */
async function setPrices({ client }: TestOperator, hostsystem: string, listed: operator.ResourcePrices): Promise<void> {
  const path = { hostsystem };
  const { name: _, nodes, ...host } = await operator.getHostSystem({ client, path });
  const bare = nodes.map(({ name, cores, mem, disk, storage }) => ({ name, cores, mem, disk, storage }));
  await operator.defineHostSystem({ client, path, body: { ...host, nodes: bare, prices: listed } });
}

/** Sale prices at or below the standard ones, of the resources that have a percentage. */
function applyDiscount(listed: operator.ResourcePrices, percents: Discount): operator.SalePricesInput {
  const priced = (['core', 'mem', 'nvme'] as const).flatMap((resource) => {
    const share = percents[resource];
    return share === undefined ? [] : [[resource, decimalOf((unitsOf(listed[resource]) * BigInt(share)) / 100n)] as const];
  });
  return Object.fromEntries(priced);
}

async function sell({ client, clock }: TestOperator, hostsystem: string, discounts: operator.SalePricesInput): Promise<void> {
  const start_date = new Date(clock.now()).toISOString();
  const body = { title: 'Sale', start_date, upgradable: true, max_volume: 9, pricings: { [hostsystem]: discounts } };
  await operator.createSale({ client, body });
}

/** The price by the formula of the document, from prices in responses and without code of the service. In units of 10^-8 EUR. */
function documentedPrice(requested: Form, host: VmHost | undefined, sales: readonly Sale[]): bigint {
  if (!host?.prices || !host.included) throw new Error('The host system shows no prices.');
  const { included } = host;
  const { cores, mem, disk, ips = 1, backup_slots = 2, network_speed = 1000, storage = 0 } = requested;
  const counts: Readonly<Record<string, number>> = {
    nvme: disk,
    core: cores,
    hdd: storage,
    extra_ip: Math.max(0, ips - included.ips),
    extra_backup_slot: Math.max(0, backup_slots - included.backup_slots),
    extra_gbit: Math.max(0, Math.ceil(network_speed / 1000) - included.network_speed / 1000),
  };
  const sum = (listed: Readonly<Record<string, { readonly price_net: string } | undefined>>): bigint => {
    // In 1/1024 of a unit, since memory counts by the MB.
    let parts = BigInt(mem) * unitsOf(listed['mem']?.price_net);
    for (const [resource, count] of Object.entries(counts))
      if (count > 0) parts += 1024n * BigInt(count) * unitsOf(listed[resource]?.price_net);
    return halfEven(parts, 1024n);
  };
  const standard = { ...host.prices };
  return sales
    .map(({ pricings }) => sum({ ...standard, ...pricings.value[host.name] }))
    .reduce((least, one) => (one < least ? one : least), sum(standard));
}

function unitsOf(decimal: string | undefined): bigint {
  const [whole = '', fraction = ''] = (decimal ?? 'none').split('.');
  return BigInt(whole + fraction.padEnd(8, '0'));
}

function decimalOf(units: bigint): string {
  const digits = units.toString().padStart(9, '0');
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`;
}

function halfEven(parts: bigint, divisor: bigint): bigint {
  const [whole, rest] = [parts / divisor, parts % divisor];
  const isUp = 2n * rest > divisor || (2n * rest === divisor && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}

function numberOf(units: bigint): number {
  return Number(`${units}e-8`);
}
