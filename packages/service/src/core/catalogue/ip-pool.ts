import { Address4, Address6 } from 'ip-address';
import { sql } from 'kysely';

import { networkText } from '../../rules/reverse-dns.ts';
import { tableOfTexts } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';

/** The value of `ip_addresses.owner` for addresses of the provider. An account's own have the ID of the account. */
export const PROVIDER = '';

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

/** Stores a pool with all addresses that it can assign. The first address of the subnet is its gateway. */
export async function addIpPool(db: Db, pool: IpPool): Promise<void> {
  const { family, gateway, addresses } = pool.cidr.includes(':') ? contentsOfIpv6Pool(pool.cidr) : contentsOfIpv4Pool(pool.cidr);
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
  await sql`
    insert into ip_addresses (address, pool_id, position, datacenter_name, family, owner)
    select value, ${pool.id}, position, ${pool.datacenter}, ${family}, ${pool.accountId ?? PROVIDER} from ${tableOfTexts(db, addresses)} as addresses
  `.execute(db);
}

interface PoolContents {
  readonly family: 4 | 6;
  readonly gateway: string;
  readonly addresses: readonly string[];
}

function contentsOfIpv4Pool(cidr: string): PoolContents {
  const subnet = new Address4(cidr);
  const first = Number(subnet.startAddress().bigInt());
  const last = Number(subnet.endAddress().bigInt());
  // The address of the network, its gateway and its broadcast address are not assigned.
  const addresses = Array.from({ length: Math.max(0, last - first - 2) }, (_, index) => ipv4Text(first + 2 + index));
  return { family: 4, gateway: ipv4Text(first + 1), addresses };
}

function contentsOfIpv6Pool(cidr: string): PoolContents {
  const network = new Address6(cidr);
  const first = network.startAddress().bigInt();
  const last = network.endAddress().bigInt();
  // The first network has the gateway.
  const count = Number((last - first + 1n) >> HOST_BITS) - 1;
  const addresses = Array.from({ length: Math.max(0, count) }, (_, index) => networkText((first >> HOST_BITS) + BigInt(index + 1)));
  return { family: 6, gateway: Address6.fromBigInt(first + 1n).correctForm(), addresses };
}

/** Host bits of the IPv6 networks that VMs get. */
const HOST_BITS = 64n;

// The library takes half a second for the 65,536 addresses of the largest pool.

function ipv4Text(address: number): string {
  return [24, 16, 8, 0].map((bits) => (address >>> bits) & 0xff).join('.');
}
