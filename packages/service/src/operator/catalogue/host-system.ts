import { isDeepStrictEqual } from 'node:util';

import type { HostSystem as HostSystemResponse } from '@reseller/operator-client';

import { accountsWithVms } from '../../core/accounting/price-rise.ts';
import { catalogueOf } from '../../core/catalogue/catalogue.ts';
import { findHostSystem, pricesAt, storePrices } from '../../core/catalogue/host-system.ts';
import type { HostSystem } from '../../core/catalogue/host-system.ts';
import { decimalOf, euros } from '../../rules/money.ts';
import type { ResourcePrices } from '../../rules/resources.ts';
import type { Db } from '../../store/store.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { assertPricesCanBeBilled } from '../price-versions.ts';
import { assertNoBrokenRules, notFound } from '../problem.ts';
import { brokenHostSystemRules } from './host-system-rules.ts';
import { replaceNodes } from './nodes.ts';

const order: Order = { columns: { position: 'integer', name: 'text' }, direction: 'asc' };

/** GET /host-systems */
export const listHostSystems: ReadOperation<'listHostSystems'> = {
  kind: 'read',
  async run(db, { query, now }) {
    const names = db.selectFrom('host_systems').select(['name', 'position']);
    const { rows, next_cursor } = await readPage(names, order, query);
    const wanted = new Set(rows.map(({ name }) => name));
    const hosts = (await catalogueOf(db)).hosts.filter(({ name }) => wanted.has(name));
    const nodes = await nodesOf(db, hosts);
    return { items: hosts.map((host) => toHostSystem(host, nodes, now)), next_cursor };
  },
};

/** GET /host-systems/{hostsystem} */
export const getHostSystem: ReadOperation<'getHostSystem'> = {
  kind: 'read',
  run: async (db, { path, now }) => describeHostSystem(db, await requireHostSystem(db, path.hostsystem), now),
};

/** PUT /host-systems/{hostsystem}: creates or replaces a host system. Prices that differ from those in force apply immediately. */
export const defineHostSystem: StoreOperation<'defineHostSystem'> = {
  kind: 'store',
  lock: 'catalogue',
  async before(db, { path, now }) {
    const host = findHostSystem((await catalogueOf(db)).hosts, path.hostsystem);
    return host && describeHostSystem(db, host, now);
  },
  async run({ db }, { path, body, now }) {
    assertNoBrokenRules(brokenHostSystemRules(body));
    const { datacenter, ranges, prices, nodes, included_traffic = null, ...described } = body;
    const columns = {
      ...described,
      included_traffic,
      datacenter_name: datacenter.name,
      datacenter_displayname: datacenter.displayname,
      datacenter_country: datacenter.country,
      datacenter_city: datacenter.city,
      ranges: JSON.stringify(ranges),
    };
    const before = findHostSystem((await catalogueOf(db)).hosts, path.hostsystem);
    await db
      .insertInto('host_systems')
      .values({ name: path.hostsystem, ...columns })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(columns))
      .execute();
    await setPrices(db, before, { hostsystem: path.hostsystem, prices, now });
    await replaceNodes(db, path.hostsystem, nodes);
    return describeHostSystem(db, await requireHostSystem(db, path.hostsystem), now);
  },
};

interface NewPrices {
  readonly hostsystem: string;
  readonly prices: ResourcePrices;
  readonly now: number;
}

/** Replaces prices that begin now. The new ones apply to the same VMs. */
async function setPrices(db: Db, before: HostSystem | undefined, { hostsystem, prices, now }: NewPrices): Promise<void> {
  const inForce = before && pricesAt(before, now);
  if (inForce && isDeepStrictEqual(toResourcePrices(inForce.prices), toResourcePrices(prices))) return;
  const appliesTo = inForce?.validFrom === now ? inForce.appliesTo : 'new_purchases';
  await storePrices(db, hostsystem, { validFrom: now, prices, appliesTo });
  if (appliesTo === 'all_vms')
    await assertPricesCanBeBilled(db, () => accountsWithVms(db, hostsystem, prices), { pointer: '#/prices', now });
}

/** @throws OperatorProblem 404 if there is no such host system. */
export async function requireHostSystem(db: Db, name: string): Promise<HostSystem> {
  const host = findHostSystem((await catalogueOf(db)).hosts, name);
  if (!host) throw notFound('host system of this name');
  return host;
}

/** Converts prices to their form in responses. */
export function toResourcePrices({ core, mem, nvme, hdd, extra_ip, extra_backup_slot, extra_gbit }: ResourcePrices): ResourcePrices {
  function price(written: string): string {
    return decimalOf(euros(written));
  }
  return {
    core: price(core),
    mem: price(mem),
    nvme: price(nvme),
    hdd: price(hdd),
    extra_ip: price(extra_ip),
    extra_backup_slot: price(extra_backup_slot),
    extra_gbit: price(extra_gbit),
  };
}

/** The nodes of host systems, by the name of the host system. */
type Nodes = ReadonlyMap<string, HostSystemResponse['nodes']>;

async function nodesOf(db: Db, hosts: readonly HostSystem[]): Promise<Nodes> {
  if (hosts.length === 0) return new Map();
  const rows = await db
    .selectFrom('host_nodes')
    .select(['hostsystem', 'name', 'cores', 'mem', 'disk', 'storage', 'used_cores', 'used_mem', 'used_disk', 'used_storage'])
    .where(
      'hostsystem',
      'in',
      hosts.map(({ name }) => name),
    )
    .where('retired', '=', 0)
    .orderBy('name')
    .execute();
  const nodes = new Map<string, HostSystemResponse['nodes']>();
  for (const { hostsystem, ...node } of rows) nodes.set(hostsystem, [...(nodes.get(hostsystem) ?? []), node]);
  return nodes;
}

async function describeHostSystem(db: Db, host: HostSystem, now: number): Promise<HostSystemResponse> {
  return toHostSystem(host, await nodesOf(db, [host]), now);
}

function toHostSystem(host: HostSystem, nodes: Nodes, now: number): HostSystemResponse {
  return {
    name: host.name,
    displayname: host.displayname,
    datacenter: {
      name: host.datacenter_name,
      displayname: host.datacenter_displayname,
      country: host.datacenter_country,
      city: host.datacenter_city,
    },
    processor: host.processor,
    memory: host.memory,
    nvme_hard_drives: host.nvme_hard_drives,
    ranges: host.ranges,
    prices: toResourcePrices(pricesAt(host, now).prices),
    position: host.position,
    included_traffic: host.included_traffic,
    nodes: nodes.get(host.name) ?? [],
  };
}
