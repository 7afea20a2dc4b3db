import { Refusal } from '../../rules/refusal.ts';
import { prepared, preparedWrite } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';

/** The addresses to assign to a VM. */
export interface AddressOrder {
  readonly accountId: string;
  readonly vmId: number;
  readonly datacenter: string;
  /** Number of IPv4 addresses. */
  readonly ips: number;
  /** Whether addresses of the provider are taken if the account's own subnets have too few. */
  readonly allowFallbackIPs: boolean;
}

/** An address or network with the properties of its pool. */
export interface AssignedAddress {
  readonly address: string;
  readonly family: number;
  readonly gateway: string;
  readonly ddosProtection: string;
}

/**
 * Takes IPv4 addresses and one IPv6 /64 network for a VM: from the account's own subnets if it has some at the data centre, otherwise from
 * the provider's pools (specification: `allowFallbackIPs`).
 *
 * @returns The addresses, in the order of their pools.
 * @throws Refusal 409 if too few are free.
 */
export async function assignAddresses(db: Db, order: AddressOrder): Promise<AssignedAddress[]> {
  const pools = await poolsAt(db, { datacenter: order.datacenter, accountId: order.accountId });
  return [
    ...(await assign(db, order, pools, { family: 4, count: order.ips })),
    ...(await assign(db, order, pools, { family: 6, count: 1 })),
  ];
}

/** Returns the addresses of a VM to their pools. */
export async function releaseAddresses(db: Db, vmId: number): Promise<void> {
  await countReleased(
    db,
    await db.updateTable('ip_addresses').set({ vm_id: null }).where('vm_id', '=', vmId).returning('pool_id').execute(),
  );
}

/**
 * Takes further IPv4 addresses for a VM.
 *
 * @param order `ips` is the number of further addresses.
 * @throws Refusal 409 if too few are free.
 */
export async function assignMoreIpv4(db: Db, order: AddressOrder): Promise<void> {
  const pools = await poolsAt(db, { datacenter: order.datacenter, accountId: order.accountId });
  await assign(db, order, pools, { family: 4, count: order.ips });
}

/** The addresses and networks of a VM, in the order of their pools. */
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

/** The IPv4 addresses of a VM, in the order of their pools. */
export async function ipv4Of(db: Db, vmId: number): Promise<string[]> {
  const addresses = await addressesOf(db, vmId);
  return addresses.filter(({ family }) => family === 4).map(({ address }) => address);
}

/** Returns the last IPv4 addresses of a VM to their pools. */
export async function releaseLastIpv4(db: Db, vmId: number, count: number): Promise<void> {
  const ipv4 = await ipv4Of(db, vmId);
  await releaseIpv4(db, vmId, ipv4.slice(Math.max(0, ipv4.length - count)));
}

async function releaseIpv4(db: Db, vmId: number, addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return;
  await countReleased(
    db,
    await db
      .updateTable('ip_addresses')
      .set({ vm_id: null })
      .where('address', 'in', addresses)
      .where('vm_id', '=', vmId)
      .returning('pool_id')
      .execute(),
  );
}

/** Returns all other IPv4 addresses of a VM to their pools. */
export async function releaseOtherIpv4(db: Db, vmId: number, kept: readonly string[]): Promise<void> {
  const others = (await ipv4Of(db, vmId)).filter((address) => !kept.includes(address));
  await releaseIpv4(db, vmId, others);
}

/** Counts released addresses as free. */
async function countReleased(db: Db, released: readonly { pool_id: string }[]): Promise<void> {
  // Pools are always locked in the same order, so that two transactions cannot deadlock.
  for (const pool of [...new Set(released.map(({ pool_id }) => pool_id))].toSorted()) {
    const count = released.filter(({ pool_id }) => pool_id === pool).length;
    await db
      .updateTable('ip_pools')
      .set((row) => ({ free: row('free', '+', count) }))
      .where('id', '=', pool)
      .execute();
  }
}

/** A pool that addresses can be taken from. */
interface Pool {
  readonly id: string;
  readonly account_id: string | null;
  readonly family: number;
  readonly gateway: string;
  readonly ddos_protection: string;
  readonly free: number;
}

async function assign(
  db: Db,
  order: AddressOrder,
  pools: readonly Pool[],
  { family, count }: { family: 4 | 6; count: number },
): Promise<AssignedAddress[]> {
  const taken: AssignedAddress[] = [];
  for (const pool of poolsFor(order, pools, family)) {
    if (taken.length === count) break;
    taken.push(...(await takeFrom(db, pool, order.vmId, Math.min(count - taken.length, pool.free))));
  }
  if (taken.length === count) return taken;
  throw new Refusal(
    409,
    'out_of_capacity',
    family === 4
      ? `This location has fewer than ${count} free IPv4 ${count === 1 ? 'address' : 'addresses'}. Choose fewer addresses or another location, or set allowFallbackIPs if only your own subnets have run out.`
      : 'This location has no free IPv6 network. Choose another location, or set allowFallbackIPs if only your own subnets have run out.',
  );
}

/**
 * Takes addresses of one pool. A conditional update of its count locks the pool first, so that enough free addresses remain.
 *
 * @returns All wanted addresses, or none if other transactions were faster.
 */
async function takeFrom(db: Db, pool: Pool, vmId: number, wanted: number): Promise<AssignedAddress[]> {
  if (wanted === 0 || (await countTaken(db, { pool: pool.id, wanted })) === 0) return [];
  const rows = wanted === 1 ? await takeFirstFree(db, { pool: pool.id, vmId }) : await takeFree(db, { pool: pool.id, vmId, wanted });
  return rows
    .toSorted((one, other) => one.position - other.position)
    .map(({ address }) => ({ address, family: pool.family, gateway: pool.gateway, ddosProtection: pool.ddos_protection }));
}

/** The pools that an order may take from, in order. */
function poolsFor({ allowFallbackIPs }: AddressOrder, pools: readonly Pool[], family: 4 | 6): readonly Pool[] {
  const ofFamily = pools.filter((pool) => pool.family === family);
  const own = ofFamily.filter(({ account_id }) => account_id !== null);
  const provided = ofFamily.filter(({ account_id }) => account_id === null);
  if (own.length === 0) return provided;
  return allowFallbackIPs ? [...own, ...provided] : own;
}

/** The count of free addresses may change before they are taken. */
const poolsAt = prepared<{ datacenter: string; accountId: string }, Pool>((db, parameter) =>
  db
    .selectFrom('ip_pools')
    .select(['id', 'account_id', 'family', 'gateway', 'ddos_protection', 'free'])
    .where('datacenter_name', '=', parameter('datacenter'))
    .where((pool) => pool.or([pool('account_id', 'is', null), pool('account_id', '=', parameter('accountId'))]))
    .orderBy('id'),
);

const countTaken = preparedWrite<{ pool: string; wanted: number }>((db, parameter) =>
  db
    .updateTable('ip_pools')
    .set((row) => ({ free: row('free', '-', parameter('wanted')) }))
    .where('id', '=', parameter('pool'))
    .where('free', '>=', parameter('wanted')),
);

/** Most VMs have one address. This query takes a third of the time of `takeFree`. */
const takeFirstFree = prepared<{ pool: string; vmId: number }, { address: string; position: number }>((db, parameter) =>
  db
    .updateTable('ip_addresses')
    .set({ vm_id: parameter('vmId') })
    .where('address', '=', ({ selectFrom }) =>
      selectFrom('ip_addresses')
        .select('address')
        .where('pool_id', '=', parameter('pool'))
        .where('vm_id', 'is', null)
        .orderBy('position')
        .limit(1),
    )
    .returning(['address', 'position']),
);

const takeFree = prepared<{ pool: string; vmId: number; wanted: number }, { address: string; position: number }>((db, parameter) =>
  db
    .updateTable('ip_addresses')
    .set({ vm_id: parameter('vmId') })
    .where('address', 'in', ({ selectFrom }) =>
      selectFrom('ip_addresses')
        .select('address')
        .where('pool_id', '=', parameter('pool'))
        .where('vm_id', 'is', null)
        .orderBy('position')
        .limit(parameter('wanted')),
    )
    .returning(['address', 'position']),
);
