import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

import { Refusal } from '../../rules/refusal.ts';
import { prepared } from '../../store/prepared.ts';
import { addressQuarantineMs } from '../../store/settings.ts';
import type { Claim, Db, LockedRows } from '../../store/store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { PROVIDER } from '../catalogue/ip-pool.ts';

/** The addresses to assign to a VM. */
export interface AddressOrder {
  /** From the catalogue. */
  readonly pools: Catalogue['pools'];
  readonly accountId: string;
  readonly vmId: number;
  readonly datacenter: string;
  /** Number of IPv4 addresses. */
  readonly ips: number;
  /** Whether addresses of the provider are taken if the account's own subnets have too few. */
  readonly allowFallbackIPs: boolean;
  /** Milliseconds. */
  readonly now: number;
}

/** An address or network with the properties of its pool. */
export interface AssignedAddress {
  readonly address: string;
  readonly family: number;
  readonly gateway: string;
  readonly ddosProtection: string;
  /** 1 if the system of the VM takes it over only at its next start. */
  readonly requiresRestart: number;
}

/**
 * Takes IPv4 addresses and one IPv6 /64 network for a VM: from the account's own subnets if it has some at the data centre, otherwise from
 * the provider's pools (specification: `allowFallbackIPs`).
 *
 * @returns The addresses, in the order of `addressesOf`.
 * @throws Refusal 409 if too few are free.
 */
export async function assignAddresses(db: Db, order: AddressOrder): Promise<AssignedAddress[]> {
  const { vmId, datacenter, ips, now } = order;
  const [owner4 = ''] = ownersFor(order, 4);
  const [owner6 = ''] = ownersFor(order, 6);
  const all = await takeUnlocked(ips)(db, { vmId, datacenter, owner4, owner6, now });
  if (all.length === ips + 1) return toAssigned(order, all);
  const some = await addressesOf(db, vmId);
  await takeMissing(db, order, { family: 4, count: ips - ofFamily(4, some).length, pending: 0, added: 0 });
  await takeMissing(db, order, { family: 6, count: 1 - ofFamily(6, some).length, pending: 0, added: 0 });
  return addressesOf(db, vmId);
}

/** The addresses or networks of one family. */
export function ofFamily(family: 4 | 6, addresses: readonly AssignedAddress[]): readonly AssignedAddress[] {
  return addresses.filter((address) => address.family === family);
}

/** Returns the addresses of a VM to their pools, where they rest. @param now Milliseconds. */
export async function releaseAddresses(db: Db, vmId: number, now: number): Promise<void> {
  await returning(db, vmId, now).execute();
}

/** Returns one address of a VM to its pool, where it rests. @param now Milliseconds. */
export async function releaseAddress(
  db: Db,
  vmId: number,
  { address, now }: { readonly address: string; readonly now: number },
): Promise<void> {
  await returning(db, vmId, now).where('address', '=', address).execute();
}

/** Returns the addresses of a VM that has never had them to their pools. */
export async function returnUnusedAddresses(db: Db, vmId: number): Promise<void> {
  await returning(db, vmId).execute();
}

/** An address of the provider rests after its release. The next VM with one of an account's own subnet is of the same account. */
function returning(db: Db, vmId: number, released?: number) {
  return db
    .updateTable('ip_addresses')
    .set({ vm_id: null, pending: 0, added: 0, requires_restart: 0 })
    .$if(released !== undefined, (query) =>
      query.set(({ eb }) => ({
        released: eb
          .case()
          .when('owner', '=', PROVIDER)
          .then(released ?? 0)
          .else(0)
          .end(),
      })),
    )
    .where('vm_id', '=', vmId);
}

/**
 * Takes further IPv4 addresses for a VM. They are pending until `confirmAddresses`.
 *
 * @param order `ips` is the number of further addresses.
 * @throws Refusal 409 if too few are free.
 */
export async function assignMoreIpv4(db: Db, order: AddressOrder): Promise<void> {
  await takeMissing(db, order, { family: 4, count: order.ips, pending: 1, added: await nextAdded(db, order.vmId) });
}

/** Moves an address to another VM, for which it is pending until `confirmAddresses`. */
export async function moveAddress(db: Db, { address, from, to }: { address: string; from: number; to: number }): Promise<void> {
  await db
    .updateTable('ip_addresses')
    .set({ vm_id: to, pending: 1, added: await nextAdded(db, to), requires_restart: 0 })
    .where('address', '=', address)
    .where('vm_id', '=', from)
    .execute();
}

/** The place of the next address that a VM gets. */
async function nextAdded(db: Db, vmId: number): Promise<number> {
  const { last } = await db
    .selectFrom('ip_addresses')
    .select(({ fn }) => fn.max<number | null>('added').as('last'))
    .where('vm_id', '=', vmId)
    .executeTakeFirstOrThrow();
  return Number(last ?? 0) + 1;
}

/** Gives a VM its pending addresses. @param requiresRestart Whether its system takes them over only at its next start. */
export async function confirmAddresses(db: Db, vmId: number, requiresRestart: boolean): Promise<void> {
  await db
    .updateTable('ip_addresses')
    .set({ pending: 0, requires_restart: requiresRestart ? 1 : 0 })
    .where('vm_id', '=', vmId)
    .where('pending', '=', 1)
    .execute();
}

/** The system of a VM has started, and has taken over all addresses. */
export async function takeAddressesOver(db: Db, vmId: number): Promise<void> {
  await db.updateTable('ip_addresses').set({ requires_restart: 0 }).where('vm_id', '=', vmId).where('requires_restart', '=', 1).execute();
}

/** Returns the pending addresses of a VM to their pools. */
export async function releasePendingAddresses(db: Db, vmId: number): Promise<void> {
  await returning(db, vmId).where('pending', '=', 1).execute();
}

/**
 * The addresses and networks of a VM, without pending ones, IPv4 first. Those of its purchase come before those that it got later, which are in the
 * order of time. Those of the purchase are in the order of their pools, the account's own before the provider's.
 */
export async function addressesOf(db: Db, vmId: number): Promise<AssignedAddress[]> {
  return selectAddresses(db, [vmId]).where('ip_addresses.pending', '=', 0).execute();
}

/** The last IPv4 addresses of a VM, with pending ones. */
export async function lastIpv4Of(db: Db, vmId: number, count: number): Promise<readonly AssignedAddress[]> {
  return ofFamily(4, await selectAddresses(db, [vmId]).execute()).slice(-count);
}

/** The addresses and networks of several VMs, by the identifier of the VM. */
export async function addressesOfVms(db: Db, vmIds: readonly number[]): Promise<ReadonlyMap<number, readonly AssignedAddress[]>> {
  if (vmIds.length === 0) return new Map();
  const addresses = await selectAddresses(db, vmIds).select('ip_addresses.vm_id').where('ip_addresses.pending', '=', 0).execute();
  return Map.groupBy(addresses, ({ vm_id }) => Number(vm_id));
}

function selectAddresses(db: Db, vmIds: readonly number[]) {
  return db
    .selectFrom('ip_addresses')
    .innerJoin('ip_pools', 'ip_pools.id', 'ip_addresses.pool_id')
    .select(['ip_addresses.address', 'ip_pools.family', 'ip_pools.gateway', 'ip_pools.ddos_protection as ddosProtection'])
    .select('ip_addresses.requires_restart as requiresRestart')
    .where('ip_addresses.vm_id', 'in', vmIds)
    .orderBy('ip_pools.family')
    .orderBy('ip_addresses.added')
    .orderBy((address) => address('ip_addresses.owner', '=', PROVIDER))
    .orderBy('ip_pools.id')
    .orderBy('ip_addresses.position');
}

/** The first IPv4 address of the VM in a row of `vms`, in the order of `addressesOf`, or null. */
export const firstIpv4 = sql<string | null>`(
  select address from ip_addresses join ip_pools on ip_pools.id = ip_addresses.pool_id
  where vm_id = vms.id and pending = 0 and ip_pools.family = 4
  order by added, owner = ${sql.lit(PROVIDER)}, ip_pools.id, ip_addresses.position limit 1
)`.as('address');

/** The IPv4 addresses of a VM, including pending ones, in the order of `addressesOf`. */
export async function ipv4Of(db: Db, vmId: number): Promise<string[]> {
  const addresses = await selectAddresses(db, [vmId]).execute();
  return addresses.filter(({ family }) => family === 4).map(({ address }) => address);
}

/** Returns the last IPv4 addresses of a VM to their pools, where they rest. @param now Milliseconds. */
export async function releaseLastIpv4(
  db: Db,
  vmId: number,
  { count, now }: { readonly count: number; readonly now: number },
): Promise<void> {
  const ipv4 = await ipv4Of(db, vmId);
  const last = ipv4.slice(Math.max(0, ipv4.length - count));
  await returning(db, vmId, now).where('address', 'in', last).execute();
}

/** Takes free addresses from one owner after the other. */
async function takeMissing(
  db: Db,
  order: AddressOrder,
  { family, count, pending, added }: { family: 4 | 6; count: number; pending: 0 | 1; added: number },
): Promise<void> {
  const { vmId, datacenter, ips, now } = order;
  const owners = ownersFor(order, family);
  let missing = count;
  for (const owner of owners) {
    if (missing > 0) missing -= (await takeFree.skip(missing)(db, { vmId, pending, added, datacenter, family, owner, now })).length;
  }
  // Other transactions may be taking the last ones, and may still give them back.
  for (const owner of owners) {
    while (missing > 0 && (await hasFree(db, { datacenter, family, owner, now })).length > 0)
      missing -= (await takeFree.wait(missing)(db, { vmId, pending, added, datacenter, family, owner, now })).length;
  }
  if (missing <= 0) return;
  throw new Refusal(
    409,
    'out_of_capacity',
    family === 4
      ? `The data centre ${datacenter} has fewer than ${ips} free IPv4 ${ips === 1 ? 'address' : 'addresses'}. Choose fewer addresses or another location, or set allowFallbackIPs if only your own subnets have run out.`
      : `The data centre ${datacenter} has no free IPv6 network. Choose another location, or set allowFallbackIPs if only your own subnets have run out.`,
  );
}

/** The owners whose pools an order may take from, in order. */
function ownersFor({ pools, accountId, datacenter, allowFallbackIPs }: Omit<AddressOrder, 'vmId'>, family: 4 | 6): readonly string[] {
  const hasOwn = pools.some((pool) => pool.account_id === accountId && pool.datacenter_name === datacenter && pool.family === family);
  if (!hasOwn) return [PROVIDER];
  return allowFallbackIPs ? [accountId, PROVIDER] : [accountId];
}

interface TakenAddress {
  readonly address: string;
  readonly pool_id: string;
  readonly position: number;
  readonly family: number;
  readonly owner: string;
}

/** Ordered by family, the account's own before the provider's, then by pool and position. */
function toAssigned({ pools }: AddressOrder, taken: readonly TakenAddress[]): AssignedAddress[] {
  function place(pool: string): number {
    return pools.findIndex(({ id }) => id === pool);
  }
  return taken
    .toSorted(
      (one, other) =>
        one.family - other.family ||
        Number(one.owner === PROVIDER) - Number(other.owner === PROVIDER) ||
        place(one.pool_id) - place(other.pool_id) ||
        one.position - other.position,
    )
    .map(({ address, pool_id, family }) => {
      const pool = pools[place(pool_id)];
      if (!pool) throw new Error(`The address ${address} is of the unknown pool ${pool_id}.`);
      return { address, family, gateway: pool.gateway, ddosProtection: pool.ddos_protection, requiresRestart: 0 };
    });
}

const RETURNED = ['address', 'pool_id', 'position', 'family', 'owner'] as const;

/** Takes addresses of both families in one statement, which skips addresses that other transactions are taking. */
const takeUnlocked = keptByCount((ips) =>
  prepared<{ vmId: number; datacenter: string; owner4: string; owner6: string; now: number }, TakenAddress>((db, parameter, claim) => {
    const shared = { claim, locked: 'skip', datacenter: parameter('datacenter'), now: parameter('now') } as const;
    const ipv4 = freeAddresses(db, { ...shared, count: ips, family: sql.lit(4), owner: parameter('owner4') });
    const ipv6 = freeAddresses(db, { ...shared, count: 1, family: sql.lit(6), owner: parameter('owner6') });
    return db
      .updateTable('ip_addresses')
      .set({ vm_id: parameter('vmId') })
      .where('address', 'in', ({ selectFrom }) =>
        selectFrom(ipv4.as('ipv4'))
          .select('ipv4.address')
          .unionAll(selectFrom(ipv6.as('ipv6')).select('ipv6.address')),
      )
      .returning(RETURNED);
  }),
);

const takeFree = { skip: takingFree('skip'), wait: takingFree('wait') };

function takingFree(locked: LockedRows) {
  return keptByCount((wanted) =>
    prepared<
      { vmId: number; pending: number; added: number; datacenter: string; family: number; owner: string; now: number },
      { address: string }
    >((db, parameter, claim) =>
      db
        .updateTable('ip_addresses')
        .set({ vm_id: parameter('vmId'), pending: parameter('pending'), added: parameter('added') })
        .where(
          'address',
          'in',
          freeAddresses(db, {
            claim,
            locked,
            count: wanted,
            datacenter: parameter('datacenter'),
            family: parameter('family'),
            owner: parameter('owner'),
            now: parameter('now'),
          }),
        )
        .returning('address'),
    ),
  );
}

/** Finds a free address. One that another transaction is taking still counts as free. */
const hasFree = prepared<{ datacenter: string; family: number; owner: string; now: number }, { address: string }>((db, parameter) =>
  freeAddresses(db, {
    claim: (query) => query,
    locked: 'skip',
    count: 1,
    datacenter: parameter('datacenter'),
    family: parameter('family'),
    owner: parameter('owner'),
    now: parameter('now'),
  }),
);

interface AddressSearch {
  readonly claim: Claim;
  readonly locked: LockedRows;
  readonly count: number;
  readonly datacenter: RawBuilder<string>;
  readonly family: RawBuilder<number>;
  readonly owner: RawBuilder<string>;
  readonly now: RawBuilder<number>;
}

/** Whether an address that no VM has has rested since its release. @param now Milliseconds. */
export function hasRested(now: RawBuilder<number>): RawBuilder<boolean> {
  return sql<boolean>`released <= ${now} - ${addressQuarantineMs}`;
}

/** The free addresses of an owner that have been free for the longest time, which the query locks. */
function freeAddresses(db: Db, { claim, locked, count, datacenter, family, owner, now }: AddressSearch) {
  return claim(
    db
      .selectFrom('ip_addresses')
      .select('address')
      .where('datacenter_name', '=', datacenter)
      .where('family', '=', family)
      .where('owner', '=', owner)
      .where('vm_id', 'is', null)
      .where(hasRested(now))
      .orderBy('released')
      .orderBy('pool_id')
      .orderBy('position')
      .limit(sql.lit(count)),
    'ip_addresses',
    locked,
  );
}

/**
 * Prepares one query for each number of addresses, with the number in its text. PostgreSQL assumes that an unknown limit returns a tenth of
 * the rows, and may then read the whole table.
 */
function keptByCount<Query>(build: (count: number) => Query): (count: number) => Query {
  const kept = new Map<number, Query>();
  return (count) => {
    const query = kept.get(count) ?? build(count);
    kept.set(count, query);
    return query;
  };
}
