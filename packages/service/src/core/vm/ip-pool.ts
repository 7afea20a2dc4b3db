import { Address4, Address6 } from 'ip-address';

import type { Db } from '../../store/store.ts';

/** A pool of addresses to add. */
export interface IpPool {
  readonly id: string;
  readonly datacenter: string;
  /** The account that owns the subnet. Null for a pool of the provider. */
  readonly accountId: string | null;
  /** An IPv4 subnet, or an IPv6 network that is assigned in /64 networks. */
  readonly cidr: string;
  /** Name of the provider that protects the addresses from denial of service. */
  readonly ddosProtection: string;
}

const BATCH_SIZE = 500;

/** Stores a pool with all addresses that it can assign. The first address of the subnet is its gateway. */
export async function addIpPool(db: Db, pool: IpPool): Promise<void> {
  const { family, gateway, addresses } = pool.cidr.includes(':') ? networksOf(pool.cidr) : addressesOf(pool.cidr);
  await db
    .insertInto('ip_pools')
    .values({
      id: pool.id,
      family,
      datacenter_name: pool.datacenter,
      account_id: pool.accountId,
      cidr: pool.cidr,
      gateway,
      ddos_protection: pool.ddosProtection,
    })
    .execute();
  const rows = addresses.map((address, position) => ({
    address,
    pool_id: pool.id,
    position,
    datacenter_name: pool.datacenter,
    family,
    owner: ownerOf(pool.accountId),
    vm_id: null,
  }));
  for (let at = 0; at < rows.length; at += BATCH_SIZE) {
    await db
      .insertInto('ip_addresses')
      .values(rows.slice(at, at + BATCH_SIZE))
      .execute();
  }
}

/** The owner of addresses as `ip_addresses` has it. @param accountId Null for the provider. */
export function ownerOf(accountId: string | null): string {
  return accountId ?? '';
}

interface PoolContents {
  readonly family: 4 | 6;
  readonly gateway: string;
  readonly addresses: readonly string[];
}

function addressesOf(cidr: string): PoolContents {
  const subnet = new Address4(cidr);
  const first = subnet.startAddress().bigInt();
  const last = subnet.endAddress().bigInt();
  function at(address: bigint): string {
    return Address4.fromBigInt(address).correctForm();
  }
  // The address of the network, its gateway and its broadcast address are not assigned.
  return { family: 4, gateway: at(first + 1n), addresses: range(first + 2n, last).map(at) };
}

function networksOf(cidr: string): PoolContents {
  const network = new Address6(cidr);
  const first = network.startAddress().bigInt();
  const last = network.endAddress().bigInt();
  const size = 1n << 64n;
  function at(address: bigint): string {
    return Address6.fromBigInt(address).correctForm();
  }
  // The first network has the gateway.
  return {
    family: 6,
    gateway: at(first + 1n),
    addresses: range(1n, (last - first + 1n) / size).map((index) => `${at(first + index * size)}/64`),
  };
}

/** The integers from `from` to below `below`. */
function range(from: bigint, below: bigint): bigint[] {
  return Array.from({ length: Number(below - from) }, (_, index) => from + BigInt(index));
}
