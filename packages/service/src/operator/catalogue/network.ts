import { Address4, Address6 } from 'ip-address';

/** A network in CIDR notation. */
export interface Network {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
  /** Canonical notation, from its first address. */
  readonly cidr: string;
  /** How many addresses, or /64 networks, a pool of it gives out. */
  readonly given: bigint;
}

/** The network that a text names; undefined where it names none. */
export function networkOf(text: string): Network | undefined {
  const prefix = Number(text.split('/')[1]);
  if (text.includes(':')) {
    if (!Address6.isValid(text) || text.includes('.')) return undefined;
    const address = new Address6(text);
    const [first, last] = [address.startAddress().bigInt(), address.endAddress().bigInt()];
    const cidr = `${Address6.fromBigInt(first).correctForm()}/${prefix}`;
    // The first network of a pool holds the gateway.
    return { family: 6, first, last, cidr, given: (last - first + 1n) / (1n << 64n) - 1n };
  }
  if (!Address4.isValid(text)) return undefined;
  const address = new Address4(text);
  const [first, last] = [address.startAddress().bigInt(), address.endAddress().bigInt()];
  // Neither its own address, nor its gateway, nor its broadcast address.
  return { family: 4, first, last, cidr: `${Address4.fromBigInt(first).correctForm()}/${prefix}`, given: last - first - 2n };
}

/** Whether two networks have an address in common. */
export function overlap(one: string, other: string): boolean {
  const [a, b] = [networkOf(one), networkOf(other)];
  return a !== undefined && b !== undefined && a.family === b.family && a.first <= b.last && b.first <= a.last;
}
