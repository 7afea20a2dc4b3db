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
  await db.updateTable('ip_addresses').set({ vm_id: null }).where('vm_id', '=', vmId).execute();
}

async function assign(db: Db, order: AddressOrder, family: 4 | 6, count: number): Promise<void> {
  let missing = count;
  for (const pool of await poolsFor(db, order, family)) {
    if (missing === 0) return;
    const free = db
      .selectFrom('ip_addresses')
      .select('address')
      .where('pool_id', '=', pool)
      .where('vm_id', 'is', null)
      .orderBy('position')
      .limit(missing);
    const taken = await db
      .updateTable('ip_addresses')
      .set({ vm_id: order.vmId })
      .where('address', 'in', free)
      .returning('address')
      .execute();
    missing -= taken.length;
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

async function poolsFor(db: Db, order: AddressOrder, family: 4 | 6): Promise<string[]> {
  const pools = await db
    .selectFrom('ip_pools')
    .select(['id', 'account_id'])
    .where('family', '=', family)
    .where('datacenter_name', '=', order.datacenter)
    .where((pool) => pool.or([pool('account_id', 'is', null), pool('account_id', '=', order.accountId)]))
    .orderBy('id')
    .execute();
  const own = pools.filter(({ account_id }) => account_id !== null).map(({ id }) => id);
  const provided = pools.filter(({ account_id }) => account_id === null).map(({ id }) => id);
  if (own.length === 0) return provided;
  return order.allowFallbackIPs ? [...own, ...provided] : own;
}
