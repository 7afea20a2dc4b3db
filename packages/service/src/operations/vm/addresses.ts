import { Refusal } from '../../refusal.ts';
import type { Db } from '../../store/store.ts';

/** What addresses a VM is to have. */
export interface AddressOrder {
  readonly accountId: string;
  readonly vmId: number;
  readonly datacenter: string;
  /** Number of IPv4 addresses. */
  readonly ips: number;
  /** Whether addresses of the provider are taken once the account's own subnets run out. */
  readonly allowFallbackIPs: boolean;
}

/** An address or network with what its pool says of it. */
export interface AssignedAddress {
  readonly address: string;
  readonly family: number;
  readonly gateway: string;
  readonly ddosProtection: string;
}

/**
 * Takes IPv4 addresses and one IPv6 /64 network for a VM: from the account's own subnets where it
 * has some at the data centre, else from the provider's pools (specification: `allowFallbackIPs`).
 *
 * @throws Refusal 409 when there are too few.
 */
export async function assignAddresses(db: Db, order: AddressOrder): Promise<void> {
  await assign(db, order, 4, order.ips);
  await assign(db, order, 6, 1);
}

/** The addresses of a VM, in the order of their pools. */
export async function addressesOf(db: Db, vmId: number): Promise<AssignedAddress[]> {
  return db
    .selectFrom('ip_addresses')
    .innerJoin('ip_pools', 'ip_pools.id', 'ip_addresses.pool_id')
    .select(['ip_addresses.address', 'ip_pools.family', 'ip_pools.gateway', 'ip_pools.ddos_protection as ddosProtection'])
    .where('ip_addresses.vm_id', '=', vmId)
    .orderBy('ip_pools.id')
    .orderBy('ip_addresses.position')
    .execute();
}

/** Gives the addresses of a VM back to their pools. */
export async function releaseAddresses(db: Db, vmId: number): Promise<void> {
  await giveBack(db, await db.updateTable('ip_addresses').set({ vm_id: null }).where('vm_id', '=', vmId).returning('pool_id').execute());
}

/**
 * Takes further IPv4 addresses for a VM.
 *
 * @param order `ips` is how many more there are to be.
 * @throws Refusal 409 when there are too few.
 */
export async function assignMoreIpv4(db: Db, order: AddressOrder): Promise<void> {
  await assign(db, order, 4, order.ips);
}

/** Gives the last IPv4 addresses of a VM back to their pools. */
export async function releaseLastIpv4(db: Db, vmId: number, count: number): Promise<void> {
  const ipv4 = (await addressesOf(db, vmId)).filter(({ family }) => family === 4).map(({ address }) => address);
  const last = ipv4.slice(Math.max(0, ipv4.length - count));
  if (last.length === 0) return;
  await giveBack(
    db,
    await db
      .updateTable('ip_addresses')
      .set({ vm_id: null })
      .where('address', 'in', last)
      .where('vm_id', '=', vmId)
      .returning('pool_id')
      .execute(),
  );
}

/** Counts addresses as free that were taken from VMs. */
async function giveBack(db: Db, released: readonly { pool_id: string }[]): Promise<void> {
  // In one order everywhere, so that two units never wait for each other.
  for (const pool of [...new Set(released.map(({ pool_id }) => pool_id))].toSorted()) {
    const count = released.filter(({ pool_id }) => pool_id === pool).length;
    await db
      .updateTable('ip_pools')
      .set((row) => ({ free: row('free', '+', count) }))
      .where('id', '=', pool)
      .execute();
  }
}

async function assign(db: Db, order: AddressOrder, family: 4 | 6, count: number): Promise<void> {
  let missing = count;
  for (const { id, free } of await poolsFor(db, order, family)) {
    if (missing === 0) return;
    missing -= await takeFrom(db, id, order.vmId, Math.min(missing, free));
  }
  if (missing === 0) return;
  throw new Refusal(
    409,
    'out_of_capacity',
    family === 4
      ? `There are not ${count} free IPv4 addresses at this location. Choose fewer addresses or another location, or set allowFallbackIPs if only your own subnets have run out.`
      : 'There is no free IPv6 network at this location. Choose another location, or set allowFallbackIPs if only your own subnets have run out.',
  );
}

/**
 * Takes addresses of one pool: first their number from its count, by a conditional update that
 * other units wait for, then as many addresses, which are there.
 *
 * @returns How many were taken: `wanted`, or none where others were faster.
 */
async function takeFrom(db: Db, pool: string, vmId: number, wanted: number): Promise<number> {
  if (wanted === 0) return 0;
  const counted = await db
    .updateTable('ip_pools')
    .set((row) => ({ free: row('free', '-', wanted) }))
    .where('id', '=', pool)
    .where('free', '>=', wanted)
    .executeTakeFirst();
  if (counted.numUpdatedRows === 0n) return 0;
  const free = db
    .selectFrom('ip_addresses')
    .select('address')
    .where('pool_id', '=', pool)
    .where('vm_id', 'is', null)
    .orderBy('position')
    .limit(wanted);
  await db.updateTable('ip_addresses').set({ vm_id: vmId }).where('address', 'in', free).execute();
  return wanted;
}

/** Pools to take from, in order; what is free may have changed by the time it is taken. */
async function poolsFor(db: Db, order: AddressOrder, family: 4 | 6): Promise<{ id: string; free: number }[]> {
  const pools = await db
    .selectFrom('ip_pools')
    .select(['id', 'account_id', 'free'])
    .where('family', '=', family)
    .where('datacenter_name', '=', order.datacenter)
    .where((pool) => pool.or([pool('account_id', 'is', null), pool('account_id', '=', order.accountId)]))
    .orderBy('id')
    .execute();
  const own = pools.filter(({ account_id }) => account_id !== null);
  const provided = pools.filter(({ account_id }) => account_id === null);
  if (own.length === 0) return provided;
  return order.allowFallbackIPs ? [...own, ...provided] : own;
}
