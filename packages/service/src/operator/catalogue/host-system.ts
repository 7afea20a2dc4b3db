import type { HostSystem as HostSystemResponse } from '@reseller/operator-client';

import { catalogueOf } from '../../core/catalogue.ts';
import { findHostSystem } from '../../core/vm/host-system.ts';
import type { HostSystem } from '../../core/vm/host-system.ts';
import { decimalOf, euros } from '../../rules/money.ts';
import type { Db } from '../../store/store.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { afterCursor, inOrder, pageOf, rowLimit } from '../paging.ts';
import type { Order } from '../paging.ts';
import { assertNoBrokenRules, notFound } from '../problem.ts';
import { brokenRules } from './host-system-rules.ts';
import { replaceNodes } from './nodes.ts';

const order: Order = { columns: { position: 'integer', name: 'text' }, direction: 'asc' };

/** GET /host-systems */
export const listHostSystems: ReadOperation<'listHostSystems'> = {
  kind: 'read',
  async run(db, { query }) {
    const names = await db
      .selectFrom('host_systems')
      .select(['name', 'position'])
      .where(afterCursor(order, query))
      .orderBy(inOrder(order))
      .limit(rowLimit(query))
      .execute();
    const { rows, next_cursor } = pageOf(names, query, ({ position, name }) => [position, name]);
    const wanted = new Set(rows.map(({ name }) => name));
    const hosts = (await catalogueOf(db)).hosts.filter(({ name }) => wanted.has(name));
    return { items: await Promise.all(hosts.map((host) => toHostSystem(db, host))), next_cursor };
  },
};

/** GET /host-systems/{hostsystem} */
export const getHostSystem: ReadOperation<'getHostSystem'> = {
  kind: 'read',
  run: (db, { path }) => hostSystemOf(db, path.hostsystem),
};

/** PUT /host-systems/{hostsystem}: creates or replaces a host system. */
export const defineHostSystem: StoreOperation<'defineHostSystem'> = {
  kind: 'store',
  async before(db, { path }) {
    const host = findHostSystem((await catalogueOf(db)).hosts, path.hostsystem);
    return host && toHostSystem(db, host);
  },
  async run({ db }, { path, body }) {
    assertNoBrokenRules(brokenRules(body));
    const { datacenter, ranges, prices, nodes, ...described } = body;
    const columns = {
      ...described,
      datacenter_name: datacenter.name,
      datacenter_displayname: datacenter.displayname,
      datacenter_country: datacenter.country,
      datacenter_city: datacenter.city,
      ranges: JSON.stringify(ranges),
      prices: JSON.stringify(prices),
    };
    await db
      .insertInto('host_systems')
      .values({ name: path.hostsystem, ...columns })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(columns))
      .execute();
    await replaceNodes(db, path.hostsystem, nodes);
    return hostSystemOf(db, path.hostsystem);
  },
};

async function hostSystemOf(db: Db, name: string): Promise<HostSystemResponse> {
  const host = findHostSystem((await catalogueOf(db)).hosts, name);
  if (!host) throw notFound('host system of this name');
  return toHostSystem(db, host);
}

async function toHostSystem(db: Db, host: HostSystem): Promise<HostSystemResponse> {
  const nodes = await db
    .selectFrom('host_nodes')
    .select(['name', 'cores', 'mem', 'disk', 'storage', 'used_cores', 'used_mem', 'used_disk', 'used_storage'])
    .where('hostsystem', '=', host.name)
    .where('retired', '=', 0)
    .orderBy('name')
    .execute();
  const { prices } = host;
  function price(written: string): string {
    return decimalOf(euros(written));
  }
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
    prices: {
      core: price(prices.core),
      mem: price(prices.mem),
      nvme: price(prices.nvme),
      hdd: price(prices.hdd),
      extra_ip: price(prices.extra_ip),
      extra_backup_slot: price(prices.extra_backup_slot),
      extra_gbit: price(prices.extra_gbit),
    },
    position: host.position,
    nodes,
  };
}
