/** Reverse DNS: the zones and names of addresses under in-addr.arpa and ip6.arpa (RFC 1035, 3.5; RFC 3596, 2.5). */
import { Address4, Address6 } from 'ip-address';

import { DATA_RULES } from './dns-data.ts';

/** Bits of the network that a VM gets. */
const NETWORK_BITS = 64;
/** A zone has at most 256 networks of VMs, so that one change never publishes more. */
const SHORTEST_PREFIX = 56;
const NIBBLE_BITS = 4;
const ZONE_PREFIXES = [SHORTEST_PREFIX, SHORTEST_PREFIX + NIBBLE_BITS, NETWORK_BITS];
const ADDRESSES_OF_ZONE = 256;

/** An address with the name that reverse DNS has for it. */
export interface RdnsEntry {
  readonly address: string;
  /** Without a final dot. Null if the address has no name. */
  readonly domain: string | null;
}

/** The canonical text of an address. Undefined if a text is not an address. */
export function addressOf(text: string): string | undefined {
  return DATA_RULES.A.read(text) ?? DATA_RULES.AAAA.read(text);
}

/** The address or /64 network that a VM gets and that an address is in. */
export function assignedOf(address: string): string {
  return address.includes(':') ? networkText(prefixOf(address)) : address;
}

/** The first address of an IPv6 network, or the IPv4 address itself. `default_ptr` names it. */
export function firstAddressOf(assigned: string): string {
  return assigned.replace(/::\/64$/, '::1');
}

/** The form in which names are stored and published. */
export function pointerOf(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** The name of an address in reverse DNS, without a final dot. */
export function reverseNameOf(address: string): string {
  return undotted(address.includes(':') ? new Address6(address).reverseForm() : new Address4(address).reverseForm());
}

/**
 * The zones that have an address or network of a VM. A zone for the networks of any pool if no pool has it.
 *
 * @param assigned An IPv4 address or a /64 network.
 * @param cidrs The networks of the pools.
 */
export function reverseZonesOf(assigned: string, cidrs: readonly string[]): string[] {
  if (!assigned.includes(':')) return [undotted(new Address4(assigned).reverseForm()).replace(/^\d+\./, '')];
  const [prefix = ''] = assigned.split('/');
  const subnets = ZONE_PREFIXES.map((length) => new Address6(`${prefix}/${length}`));
  const served = subnets.filter((subnet) => isServed(subnet, cidrs));
  return (served.length > 0 ? served : subnets).map((subnet) => undotted(subnet.reverseForm()));
}

/** The zones that a name may be in, by their names. Empty if it is not a name of reverse DNS. */
export function reverseZonesAbove(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, index) => labels.slice(index).join('.')).filter((zone) => subnetOf(zone) !== undefined);
}

/**
 * Whether the service has a reverse zone.
 *
 * @param cidrs The networks of the pools.
 */
export function isReverseZone(zone: string, cidrs: readonly string[]): boolean {
  const subnet = subnetOf(zone);
  return subnet !== undefined && isServed(subnet, cidrs);
}

/** The addresses and networks that VMs can have in a reverse zone. */
export function assignableIn(zone: string): string[] {
  const subnet = subnetOf(zone);
  if (subnet === undefined) return [];
  if (subnet instanceof Address6) {
    const first = prefixOf(subnet.correctForm());
    return Array.from({ length: 2 ** (NETWORK_BITS - subnet.subnetMask) }, (_, index) => networkText(first + BigInt(index)));
  }
  const [prefix = ''] = subnet.correctForm().match(/^(?:\d{1,3}\.){3}/) ?? [];
  return Array.from({ length: ADDRESSES_OF_ZONE }, (_, last) => `${prefix}${last}`);
}

/** The addresses and networks of VMs that a name in a reverse zone is of, or is above. At most 16, because the zone itself is left out. */
export function assignedBelow(name: string): string[] {
  const octets = /^((?:\d{1,3}\.){4})in-addr\.arpa$/.exec(name)?.[1]?.split('.').slice(0, -1);
  if (octets) {
    const address = octets.toReversed().join('.');
    return Address4.isValid(address) ? [address] : [];
  }
  const nibbles = /^((?:[0-9a-f]\.){15,32})ip6\.arpa$/
    .exec(name)?.[1]
    ?.split('.')
    .toReversed()
    .join('')
    .slice(0, NETWORK_BITS / NIBBLE_BITS);
  if (nibbles === undefined) return [];
  const missing = NETWORK_BITS - NIBBLE_BITS * nibbles.length;
  const first = BigInt(`0x${nibbles}`) << BigInt(missing);
  return Array.from({ length: 2 ** missing }, (_, index) => networkText(first + BigInt(index)));
}

/** The text of a /64 network by RFC 5952. Its host bits are the longest run of zeros. @param prefix The upper half of the address. */
export function networkText(prefix: bigint): string {
  const groups = [48n, 32n, 16n, 0n].map((bits) => Number((prefix >> bits) & 0xffffn).toString(16));
  return `${groups.join(':').replace(/(?::0){1,3}$/, '')}::/64`;
}

/** The upper half of an IPv6 address. */
function prefixOf(address: string): bigint {
  return new Address6(address).bigInt() >> BigInt(NETWORK_BITS);
}

/** Whether the service has the zone of a network, because a pool is in it or contains it. */
function isServed(subnet: Address4 | Address6, cidrs: readonly string[]): boolean {
  return cidrs.some((cidr) => {
    if (cidr.includes(':') !== subnet instanceof Address6) return false;
    if (subnet instanceof Address4) return overlap(subnet, new Address4(cidr));
    const pool = new Address6(cidr);
    return zonePrefixOf(pool) === subnet.subnetMask && overlap(subnet, pool);
  });
}

/** The length of the prefix that the zones of a pool's networks have. A zone ends between two hexadecimal digits. */
function zonePrefixOf({ subnetMask }: Address6): number {
  return Math.max(SHORTEST_PREFIX, Math.min(NETWORK_BITS, subnetMask - (subnetMask % NIBBLE_BITS)));
}

/** The network of a reverse zone of this service. Undefined for any other name. */
function subnetOf(zone: string): Address4 | Address6 | undefined {
  const octets = /^((?:\d{1,3}\.){3})in-addr\.arpa$/.exec(zone)?.[1]?.split('.').slice(0, -1);
  if (octets) {
    const subnet = `${octets.toReversed().join('.')}.0`;
    return Address4.isValid(subnet) ? new Address4(`${subnet}/24`) : undefined;
  }
  return /^(?:[0-9a-f]\.){14,16}ip6\.arpa$/.test(zone) ? Address6.fromArpa(zone) : undefined;
}

function overlap<Address extends Address4 | Address6>(one: Address, other: Address): boolean {
  return one.isInSubnet(other) || other.isInSubnet(one);
}

function undotted(name: string): string {
  return name.replace(/\.$/, '');
}
