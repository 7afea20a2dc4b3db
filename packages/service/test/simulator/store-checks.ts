/** Checks that the store and the ports match the model, and that the invariants of the store hold. */
import type { Zone } from '@reseller/adapters';
import { expect } from 'vitest';

import { zoneOf } from '../../src/core/domain/zones.ts';
import type { Store } from '../../src/index.ts';
import { reverseZonesOf } from '../../src/rules/reverse-dns.ts';
import {
  expectExactHolds,
  expectExactSaleVolumes,
  expectExactUnpaid,
  expectPositionsInOrder,
  expectSoundDocuments,
} from '../invariants.ts';
import { hosts } from './catalogue.ts';
import { heldUnits, unpaidCents } from './model-billing.ts';
import { balanceCredit, balanceOf } from './model-payments.ts';
import { allocationsIn, usedOn } from './model-room.ts';
import type { Simulation } from './simulation.ts';
import type { World } from './world.ts';

export async function expectStoreMatchesModel(sim: Simulation): Promise<void> {
  const store = sim.client.store();
  await store.requestLog.numberAll();
  // No request is running, so the checks can read concurrently.
  await Promise.all([
    expectAmounts(sim, store),
    expectRoom(sim, store),
    expectSales(sim, store),
    expectAddresses(sim, store),
    expectRequestLog(sim, store),
    expectReservations(sim, store),
    expectExactHolds(store),
    expectExactUnpaid(store),
    expectExactSaleVolumes(store),
    expectPositionsInOrder(store),
    expectSoundDocuments(store),
  ]);
}

/** Each account has the period, held credit and debt of the model. */
async function expectAmounts({ model }: Simulation, store: Store): Promise<void> {
  const accounts = await store.read((db) =>
    db.selectFrom('accounts').select(['id', 'held', 'unpaid', 'balance', 'balance_credit', 'period_start']).execute(),
  );
  for (const account of model.accounts) {
    const row = accounts.find(({ id }) => id === account.id);
    const { period } = account;
    const { held, unpaid, balance, balance_credit } = row ?? {};
    expect({ period: row?.period_start, held, unpaid, balance, balance_credit }, `account ${account.name}`).toEqual({
      period,
      held: Number(heldUnits(model, account, period)),
      unpaid: Number(unpaidCents(model, account, period) * 1_000_000n),
      balance: Number(balanceOf(account) * 1_000_000n),
      balance_credit: Number(balanceCredit(model, account) * 1_000_000n),
    });
  }
}

/** The used resources of each node are those of its VMs and within its capacity. */
async function expectRoom({ model }: Simulation, store: Store): Promise<void> {
  const rows = await store.read((db) => db.selectFrom('host_nodes').selectAll().execute());
  for (const node of hosts.flatMap(({ nodes }) => nodes)) {
    const row = rows.find(({ name }) => name === node.name);
    const used = usedOn(model, node.name);
    expect(
      { cores: row?.used_cores, mem: row?.used_mem, disk: row?.used_disk, storage: row?.used_storage },
      `used of ${node.name}`,
    ).toEqual(used);
    expect(
      used.cores <= node.cores && used.mem <= node.mem && used.disk <= node.disk && used.storage <= node.storage,
      `capacity of ${node.name}`,
    ).toBe(true);
  }
}

/** Each sale has the used volume of the model. */
async function expectSales({ model }: Simulation, store: Store): Promise<void> {
  const rows = await store.read((db) => db.selectFrom('sales').select(['id', 'used_volume', 'max_volume']).execute());
  for (const { id, title, used, max } of model.sales) {
    const row = rows.find((one) => one.id === id);
    expect({ used: row?.used_volume, max: row?.max_volume }, `volume of ${title}`).toEqual({ used, max });
  }
}

/** Each VM has the addresses of the model, and no address exists twice. */
async function expectAddresses({ model }: Simulation, store: Store): Promise<void> {
  const rows = await store.read((db) => db.selectFrom('ip_addresses').selectAll().execute());
  const given = allocationsIn(model).flatMap(({ id, ipv4, ipv6 }) => [...ipv4, ...ipv6].map((address) => `${address} ${id}`));
  const taken = rows.flatMap(({ address, vm_id }) => (vm_id === null ? [] : [`${address} ${vm_id}`]));
  expect(taken.toSorted(), 'addresses').toEqual(given.toSorted());
  expect(new Set(rows.map(({ address }) => address)).size, 'different addresses').toBe(rows.length);
}

/** The request log has one entry for each response, numbered without a gap. */
async function expectRequestLog({ model }: Simulation, store: Store): Promise<void> {
  const rows = await store.read((db) =>
    db
      .selectFrom('request_log')
      .select(({ fn }) => ['account_id', fn.countAll<number>().as('entries'), fn.min('number').as('first'), fn.max('number').as('last')])
      .groupBy('account_id')
      .execute(),
  );
  for (const { id, name, requests } of model.accounts) {
    const count = requests.length;
    const row = rows.find(({ account_id }) => account_id === id);
    const expected = count === 0 ? undefined : { account_id: id, entries: count, first: 1, last: count };
    expect(row, `request log of ${name}`).toEqual(expected);
  }
}

/** The reservations and the pending keys are those of the requests in progress. */
async function expectReservations({ openRequests }: Simulation, store: Store): Promise<void> {
  const { reserved, pending } = await store.read(async (db) => ({
    // Scheduled jobs send the calls of the fleet, so no request waits for them.
    reserved: await db
      .selectFrom('reservations')
      .select(['account_id', 'delivery'])
      .where('delivery', 'not in', ['setUpServer', 'retireServer'])
      .execute(),
    pending: await db.selectFrom('idempotency_keys').select('account_id').where('state', '=', 'pending').execute(),
  }));
  expect(reserved.map(({ account_id, delivery }) => `${account_id} ${delivery}`).toSorted()).toEqual(
    openRequests.map(({ account, delivery }) => `${account.id} ${delivery}`).toSorted(),
  );
  expect(pending.map(({ account_id }) => account_id).toSorted()).toEqual(
    openRequests.flatMap(({ key, account }) => (key === undefined ? [] : [account.id])).toSorted(),
  );
}

/** Checks that the hypervisor, the fleet and the registrar match the model. Call it only when no request is in progress. */
export async function expectPortsMatchModel({ world, model, client }: Simulation): Promise<void> {
  const present = model.vms.filter(({ state }) => state !== 'removed').map(({ id }) => id);
  expect([...world.hypervisor.vms.keys()].toSorted(), 'VMs of the hypervisor').toEqual(present.toSorted());
  const stopped = model.vms.filter(({ state }) => state === 'stopped').map(({ id }) => id);
  expect([...world.hypervisor.stopped].toSorted(), 'stopped VMs of the hypervisor').toEqual(stopped.toSorted());
  for (const { id, state, resources, ipv4 } of model.vms) {
    if (state === 'removed') continue;
    const order = world.hypervisor.vms.get(id);
    const { cores, mem, disk, storage, network_speed: networkSpeed, backup_slots: backupSlots } = resources;
    expect(order, `VM ${id} at the hypervisor`).toMatchObject({ cores, mem, disk, storage, networkSpeed, backupSlots });
    expect(order?.ipv4.toSorted(), `addresses of VM ${id} at the hypervisor`).toEqual(ipv4.toSorted());
  }
  const inUse = model.servers.flatMap(({ id, state }) => (state === 'ordered' || state === 'deployed' ? [id] : []));
  expect([...world.fleet.servers.keys()].toSorted(), 'servers of the fleet').toEqual(inUse.toSorted());
  const tasks = await client
    .store()
    .read((db) => db.selectFrom('reservations').select('id').where('delivery', 'in', ['setUpServer', 'retireServer']).execute());
  expect(tasks, 'tasks of the fleet').toEqual([]);
  for (const { name, nameservers, authcode, terminated, transferLock, dnssec, handle } of model.domains.values()) {
    const registered = world.registrar.domains.get(name);
    expect(registered, `${name} at the registrar`).toMatchObject({
      nameservers,
      authcode,
      renewed: !terminated,
      transferLock,
      dsRecords: dnssec.records,
      contact: { handle },
    });
  }
  await expectZonesPublished(world, client.store());
  const others = [...world.registrar.domains.keys()].filter((name) => !model.domains.has(name) && !model.lapsed.has(name));
  expect(others, 'domains of the registrar that the model does not have').toEqual([]);
}

/** Checks that the DNS has the zone of each domain and of each address of a VM as it is in the store, and no other domains. */
async function expectZonesPublished({ dns: { zones }, registrar }: World, store: Store): Promise<void> {
  const [waiting, stored] = await store.read(async (db): Promise<[unknown, Map<string, Zone | undefined>]> => {
    const domains = await db.selectFrom('domains').select('name').where('state', '!=', 'reserved').execute();
    const addresses = await db.selectFrom('ip_addresses').select('address').where('vm_id', 'is not', null).execute();
    const cidrs = (await db.selectFrom('ip_pools').select('cidr').execute()).map(({ cidr }) => cidr);
    const reverse = addresses.flatMap(({ address }) => reverseZonesOf(address, cidrs));
    // A reverse zone stays when its last address is released.
    const names = new Set([...domains.map(({ name }) => name), ...reverse, ...[...zones.keys()].filter((name) => name.endsWith('.arpa'))]);
    const zonesByName = new Map<string, Zone | undefined>();
    for (const name of names) zonesByName.set(name, await zoneOf(db, name, registrar.standardNameservers));
    return [await db.selectFrom('zone_changes').select('domain').execute(), zonesByName];
  });
  expect(waiting, 'zones that are not published').toEqual([]);
  expect(new Map(zones), 'zones of the DNS').toEqual(stored);
}
