import { Address4, Address6 } from 'ip-address';

/** A network in CIDR notation. */
export interface Network {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
  /** Canonical notation, from its first address. */
  readonly cidr: string;
  /** Number of addresses, or /64 networks, that a pool can assign. */
  readonly count: bigint;
}

/** Parses a network. Undefined if the text is not one. */
export function parseNetwork(text: string): Network | undefined {
  const prefix = Number(text.split('/')[1]);
  if (text.includes(':')) {
    if (!Address6.isValid(text) || text.includes('.')) return undefined;
    const address = new Address6(text);
    const [first, last] = [address.startAddress().bigInt(), address.endAddress().bigInt()];
    const cidr = `${Address6.fromBigInt(first).correctForm()}/${prefix}`;
    // The first network of a pool has the gateway.
    return { family: 6, first, last, cidr, count: (last - first + 1n) / (1n << 64n) - 1n };
  }
  if (!Address4.isValid(text)) return undefined;
  const address = new Address4(text);
  const [first, last] = [address.startAddress().bigInt(), address.endAddress().bigInt()];
  // The address of the network, its gateway and its broadcast address are not assigned.
  return { family: 4, first, last, cidr: `${Address4.fromBigInt(first).correctForm()}/${prefix}`, count: last - first - 2n };
}

/** Whether two networks have an address in common. */
export function networksOverlap(one: string, other: string): boolean {
  const [a, b] = [parseNetwork(one), parseNetwork(other)];
  return a !== undefined && b !== undefined && a.family === b.family && a.first <= b.last && b.first <= a.last;
}
