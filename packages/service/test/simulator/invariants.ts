/** What holds in the store at every moment, whatever was done, and what the model says of it. */
import { expect } from 'vitest';

import type { Store } from '../../src/index.ts';
import { expectPositionsInOrder } from '../invariants.ts';
import { hosts } from './catalogue.ts';
import { heldUnits, unpaidCents } from './model-billing.ts';
import { taking, usedOn } from './model-room.ts';
import type { Simulation } from './simulation.ts';

/** All of them. */
export async function expectInvariants(sim: Simulation): Promise<void> {
  const store = sim.door.store();
  // Nothing writes meanwhile, so they need not wait for one another.
  await Promise.all([
    expectHolds(sim, store),
    expectRoom(sim, store),
    expectSales(sim, store),
    expectAddresses(sim, store),
    expectRequestLog(sim, store),
    expectReservations(sim, store),
    expectPositionsInOrder(store),
  ]);
}

/**
 * What an account holds is what its open positions, open charges, servers that are being set up
 * and purchases under way hold, and exactly what the model holds; what it owes is its open invoices.
 */
async function expectHolds({ model }: Simulation, store: Store): Promise<void> {
  const { accounts, positions, charges, servers, reservations, invoices } = await store.read(async (db) => ({
    accounts: await db.selectFrom('accounts').select(['id', 'held', 'unpaid', 'period_start', 'credit_limit']).execute(),
    positions: await db.selectFrom('positions').select(['account_id', 'hold as amount']).where('invoice_id', 'is', null).execute(),
    charges: await db.selectFrom('charges').select(['account_id', 'amount']).where('invoice_id', 'is', null).execute(),
    servers: await db
      .selectFrom('dedicated_servers')
      .select(['account_id', 'hold as amount'])
      .where('account_id', 'is not', null)
      .execute(),
    reservations: await db.selectFrom('reservations').select(['account_id', 'details']).execute(),
    invoices: await db.selectFrom('invoices').select(['account_id', 'total as amount']).where('status', '=', 'OPEN').execute(),
  }));
  const reserved = reservations.map(({ account_id, details }) => ({ account_id, amount: holdIn(details) }));
  const held = sums([...positions, ...charges, ...servers, ...reserved]);
  const owed = sums(invoices);
  for (const account of model.accounts) {
    const row = accounts.find(({ id }) => id === account.id);
    const { period } = account;
    const inStore = {
      period: row?.period_start,
      held: row?.held,
      unpaid: row?.unpaid,
      isHeldFor: held.get(account.id) ?? 0,
      isOwed: owed.get(account.id) ?? 0,
    };
    const amount = Number(heldUnits(model, account, period));
    const unpaid = Number(unpaidCents(model, account, period) * 1_000_000n);
    expect(inStore, `account ${account.name}`).toEqual({ period, held: amount, unpaid, isHeldFor: amount, isOwed: unpaid });
  }
}

function holdIn(details: string): number {
  const { hold = 0 }: { hold?: number } = JSON.parse(details);
  return hold;
}

/** Nodes give what their VMs have, and never more than they have. */
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

/** The used volume of a sale counts its VMs, and is never above its maximum. */
async function expectSales({ model }: Simulation, store: Store): Promise<void> {
  const { rows, vms } = await store.read(async (db) => ({
    rows: await db.selectFrom('sales').select(['id', 'used_volume', 'max_volume']).execute(),
    vms: await db.selectFrom('vms').select('sale_id').where('sale_id', 'is not', null).execute(),
  }));
  for (const { id, title, used, max } of model.sales) {
    const row = rows.find((one) => one.id === id);
    const bought = vms.filter(({ sale_id }) => sale_id === id).length;
    expect({ used: row?.used_volume, max: row?.max_volume, bought }, `volume of ${title}`).toEqual({ used, max, bought: used });
    expect(used).toBeLessThanOrEqual(max);
  }
}

/** Each VM has its addresses, none is given twice, and pools count those that are free. */
async function expectAddresses({ model }: Simulation, store: Store): Promise<void> {
  const { rows, pools } = await store.read(async (db) => ({
    rows: await db.selectFrom('ip_addresses').selectAll().execute(),
    pools: await db.selectFrom('ip_pools').select(['id', 'free']).execute(),
  }));
  const given = taking(model).flatMap(({ id, ipv4, ipv6 }) => [...ipv4, ...ipv6].map((address) => `${address} ${id}`));
  const taken = rows.flatMap(({ address, vm_id }) => (vm_id === null ? [] : [`${address} ${vm_id}`]));
  expect(taken.toSorted(), 'addresses').toEqual(given.toSorted());
  expect(new Set(rows.map(({ address }) => address)).size, 'addresses that there are').toBe(rows.length);
  for (const { id, free } of pools) {
    expect(free, `free addresses of ${id}`).toBe(rows.filter(({ pool_id, vm_id }) => pool_id === id && vm_id === null).length);
  }
}

/** One entry for each answered request, numbered without a gap. */
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

/** What is reserved is what is under way, and so are the keys that wait for their answers. */
async function expectReservations({ underWay }: Simulation, store: Store): Promise<void> {
  const { reserved, pending } = await store.read(async (db) => ({
    // Calls of the fleet are enqueued: no request waits for them.
    reserved: await db
      .selectFrom('reservations')
      .select(['account_id', 'delivery'])
      .where('delivery', 'not in', ['setUpServer', 'retireServer'])
      .execute(),
    pending: await db.selectFrom('idempotency_keys').select('account_id').where('state', '=', 'pending').execute(),
  }));
  expect(reserved.map(({ account_id, delivery }) => `${account_id} ${delivery}`).toSorted()).toEqual(
    underWay.map(({ account, what }) => `${account.id} ${what}`).toSorted(),
  );
  expect(pending.map(({ account_id }) => account_id).toSorted()).toEqual(
    underWay.flatMap(({ key, account }) => (key === undefined ? [] : [account.id])).toSorted(),
  );
}

/** What the hypervisor, the fleet and the registrar have is what the store says; only where nothing is under way. */
export async function expectWorldInStep({ world, model, door }: Simulation): Promise<void> {
  const present = model.vms.filter(({ state }) => state !== 'removed').map(({ id }) => id);
  expect([...world.hypervisor.vms.keys()].toSorted(), 'VMs of the hypervisor').toEqual(present.toSorted());
  const stopped = model.vms.filter(({ state }) => state === 'stopped').map(({ id }) => id);
  expect([...world.hypervisor.stopped].toSorted(), 'VMs that the hypervisor has stopped').toEqual(stopped.toSorted());
  for (const { id, state, resources, ipv4 } of model.vms) {
    if (state === 'removed') continue;
    const order = world.hypervisor.vms.get(id);
    const { cores, mem, disk, storage, network_speed: networkSpeed, backup_slots: backupSlots } = resources;
    expect(order, `VM ${id} at the hypervisor`).toMatchObject({ cores, mem, disk, storage, networkSpeed, backupSlots });
    expect(order?.ipv4.toSorted(), `addresses of VM ${id} at the hypervisor`).toEqual(ipv4.toSorted());
  }
  const inUse = model.servers.flatMap(({ id, state }) => (state === 'ordered' || state === 'deployed' ? [id] : []));
  expect([...world.fleet.servers.keys()].toSorted(), 'servers of the fleet').toEqual(inUse.toSorted());
  const tasks = await door
    .store()
    .read((db) => db.selectFrom('reservations').select('id').where('delivery', 'in', ['setUpServer', 'retireServer']).execute());
  expect(tasks, 'tasks of the fleet').toEqual([]);
  for (const { name, nameservers, authcode, terminated } of model.domains.values()) {
    const registered = world.registrar.domains.get(name);
    expect(registered, `${name} at the registrar`).toMatchObject({ nameservers, authcode, renewed: !terminated });
  }
  const others = [...world.registrar.domains.keys()].filter((name) => !model.domains.has(name) && !model.lapsed.has(name));
  expect(others, 'domains that only the registrar has').toEqual([]);
}

function sums(amounts: readonly { account_id: string | null; amount: number }[]): Map<string | null, number> {
  const totals = new Map<string | null, number>();
  for (const { account_id, amount } of amounts) totals.set(account_id, (totals.get(account_id) ?? 0) + amount);
  return totals;
}
