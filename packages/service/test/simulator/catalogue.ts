/**
 * The catalogue of the simulated provider. Most prices have eight decimals, so that amounts need rounding. Its capacity is so low that accounts
 * compete for it.
 */
import { writeSeller } from '../../src/core/accounting/invoice-document/parties.ts';
import { storePrices } from '../../src/core/catalogue/host-system.ts';
import { setTldPrices } from '../../src/core/catalogue/tld-price.ts';
import { addMarketServer } from '../../src/core/dedicated/order.ts';
import type { NewMarketServer } from '../../src/core/dedicated/order.ts';
import { addIpPool, createAccount, euros, issueApiKey } from '../../src/index.ts';
import type { Ports, Store } from '../../src/index.ts';
import type { ResourcePrices, ResourceRanges } from '../../src/rules/resources.ts';
import { sandboxSeller } from '../../src/sandbox/seller.ts';
import { writeAddressQuarantine } from '../../src/store/settings.ts';

export interface CatalogueHost {
  readonly name: string;
  readonly datacenter: string;
  readonly ranges: ResourceRanges;
  readonly prices: ResourcePrices;
  readonly nodes: readonly Node[];
}

export interface Node {
  readonly name: string;
  readonly cores: number;
  readonly mem: number;
  readonly disk: number;
  readonly storage: number;
}

const ranges: ResourceRanges = {
  cores: { min: 1, max: 8, step: 1 },
  mem: { min: 1024, max: 16_384, step: 512 },
  disk: { min: 10, max: 200, step: 5 },
  ips: { min: 1, max: 4, step: 1 },
  backup_slots: { min: 0, max: 10, step: 1 },
  network_speed: { min: 100, max: 1000, step: 100 },
};

/** Two host systems share the address pools of FRA1. */
export const hosts: readonly CatalogueHost[] = [
  {
    name: 'sim_epyc',
    datacenter: 'FRA1',
    ranges: { ...ranges, storage: { min: 100, max: 1000, step: 100 } },
    prices: {
      core: '1.37654321',
      mem: '0.83123457',
      nvme: '0.03142857',
      hdd: '0.00714283',
      extra_ip: '1.49000001',
      extra_backup_slot: '0.53333333',
      extra_gbit: '9.97999999',
    },
    nodes: [
      { name: 'epyc-1', cores: 20, mem: 40_960, disk: 500, storage: 1500 },
      { name: 'epyc-2', cores: 16, mem: 32_768, disk: 400, storage: 700 },
    ],
  },
  {
    name: 'sim_xeon',
    datacenter: 'FRA1',
    ranges: { ...ranges, storage: { min: 100, max: 1000, step: 100 } },
    prices: {
      core: '0.99999999',
      mem: '0.71428571',
      nvme: '0.02941177',
      hdd: '0.00671141',
      extra_ip: '1.49253731',
      extra_backup_slot: '0.47058823',
      extra_gbit: '9.97000001',
    },
    nodes: [{ name: 'xeon-1', cores: 24, mem: 65_536, disk: 800, storage: 1000 }],
  },
  {
    name: 'sim_ryzen',
    datacenter: 'AMS1',
    ranges: { ...ranges, network_speed: { min: 100, max: 5000, step: 100 } },
    prices: {
      core: '2.11111111',
      mem: '1.19047619',
      nvme: '0.04109589',
      hdd: '0.00',
      extra_ip: '1.51515151',
      extra_backup_slot: '0.51020409',
      extra_gbit: '4.93827161',
    },
    nodes: [
      { name: 'ryzen-1', cores: 16, mem: 49_152, disk: 600, storage: 0 },
      { name: 'ryzen-2', cores: 16, mem: 49_152, disk: 600, storage: 0 },
    ],
  },
];

export const osImages = ['debian_12', 'ubuntu_24_04', 'windows_server_2022'];

/** Each TLD with its prices of registration, renewal and transfer. */
export const tlds: readonly (readonly [string, string, string, string])[] = [
  ['com', '10.51282051', '11.49425287', '9.99000999'],
  ['de', '4.19161677', '4.23728813', '4.17'],
  ['online', '2.91262137', '28.98550725', '28.01120449'],
  ['org.uk', '6.53594771', '8.07', '6.49350649'],
];

/** The credit limits are so low that the service refuses some purchases. */
export const accountPlans = [
  { name: 'north', limit: '140.00', subnets: [] },
  { name: 'south', limit: '55.55', subnets: [] },
  { name: 'own subnets', limit: '320.01', subnets: ['198.51.100.0/28', '2001:db8:5100::/61'] },
] as const;

const providerPools = [
  { id: 'fra1-v4', datacenter: 'FRA1', cidr: '100.96.0.0/28' },
  { id: 'fra1-v6', datacenter: 'FRA1', cidr: '2001:db8:6900::/60' },
  { id: 'ams1-v4', datacenter: 'AMS1', cidr: '100.64.0.0/28' },
  { id: 'ams1-v6', datacenter: 'AMS1', cidr: '2001:db8:4100::/61' },
];

/** A server for the market. Its addresses, price and runtime follow from its number. */
export function machine(number: number): NewMarketServer & { readonly price: bigint } {
  return {
    datacenter: { name: 'FRA1', displayname: 'Frankfurt 1', country: 'Germany', city: 'Frankfurt am Main' },
    cpu: { amount: 1, cores: 8, type: 'Simulated' },
    memory: { size: 64, unit: 'GB', type: 'DDR5 ECC' },
    disks: [{ amount: 2, size: 960, unit: 'GB', type: 'SSD' }],
    network: { traffic: { limit: false, amount: null, unit: null }, connection: '1 x 1 Gbit/s' },
    status: { type: 'not_ready', description: 'The server is set up after the order.' },
    ipv4: [{ address: `100.112.${number >> 7}.${10 + (number & 127)}`, gateway: '100.112.0.1' }],
    ipv6: [{ address: `2001:db8:69d0:${number.toString(16)}::/64`, gateway: '2001:db8:69d0::1' }],
    price: euros(['39.90422987', '22.22222223', '61.07'][number % 3] ?? '0'),
    runtimeDays: [30, 31, 7, 90][number % 4] ?? 30,
  };
}

/** An account of the initial store. */
export interface SeededAccount {
  readonly name: string;
  readonly id: string;
  readonly apiKey: string;
  readonly limit: string;
}

/** An address pool. `accountId` is null if it belongs to the provider. */
export interface SeededPool {
  readonly id: string;
  readonly datacenter: string;
  readonly accountId: string | null;
  readonly cidr: string;
}

/** Fills an empty store. */
export async function seedCatalogue(store: Store, ports: Ports): Promise<{ accounts: SeededAccount[]; pools: SeededPool[] }> {
  return store.commit(async ({ db }) => {
    await db
      .insertInto('os_images')
      .values(osImages.map((name) => ({ name, displayname: name, username: 'root' })))
      .execute();
    for (const [position, { name, datacenter, nodes, ranges: bounds, prices }] of hosts.entries()) {
      const described = { displayname: name, processor: 'Simulated', memory: 'Simulated', nvme_hard_drives: 'Simulated' };
      const place = { datacenter_displayname: datacenter, datacenter_country: 'Simulated', datacenter_city: datacenter };
      await db
        .insertInto('host_systems')
        .values({ name, datacenter_name: datacenter, position, ...described, ...place, ranges: JSON.stringify(bounds) })
        .execute();
      await storePrices(db, name, { validFrom: 0, prices, appliesTo: 'new_purchases' });
      const unused = { used_cores: 0, used_mem: 0, used_disk: 0, used_storage: 0 };
      await db
        .insertInto('host_nodes')
        .values(nodes.map((node) => ({ ...node, ...unused, hostsystem: name })))
        .execute();
    }
    await writeSeller(db, sandboxSeller);
    await setTldPrices(
      db,
      tlds.map(([tld, create, renew, transfer]) => ({
        tld,
        create: euros(create),
        renew: euros(renew),
        transfer: euros(transfer),
      })),
      0,
    );
    const accounts: SeededAccount[] = [];
    const pools: SeededPool[] = providerPools.map((pool) => ({ ...pool, accountId: null }));
    for (const { name, limit, subnets } of accountPlans) {
      const id = await createAccount(db, ports, { name, creditLimit: euros(limit) });
      accounts.push({ name, id, limit, apiKey: await issueApiKey(db, ports, id, { label: name, mode: 'sandbox' }) });
      for (const [index, cidr] of subnets.entries()) pools.push({ id: `own-${index}`, datacenter: 'FRA1', accountId: id, cidr });
    }
    // Addresses are few, so that they run out.
    await writeAddressQuarantine(db, 0);
    for (const pool of pools) await addIpPool(db, { ...pool, ddosProtection: 'Simulated' });
    return { accounts, pools };
  });
}

/** Puts a server on the market. */
export function addServer(store: Store, ports: Ports, number: number): Promise<string> {
  return store.commit(({ db }) => addMarketServer(db, ports, machine(number)));
}
