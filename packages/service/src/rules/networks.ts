/** Networks that may use an API key: IPv4 and IPv6, as addresses or in CIDR notation. */
import { BlockList, isIP, isIPv4 } from 'node:net';

interface Subnet {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** The network that a text names, or undefined if it names none. */
function networkOf(text: string): Subnet | undefined {
  const [address = '', length, ...rest] = text.split('/');
  if (isIP(address) === 0 || rest.length > 0) return undefined;
  const [family, bits] = isIPv4(address) ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  const prefix = length === undefined ? bits : Number(length);
  return length === '' || !(prefix <= bits) ? undefined : { address, prefix, family };
}

export function isNetwork(text: string): boolean {
  return networkOf(text) !== undefined;
}

/**
 * @param networks Texts of networks.
 * @returns Whether an address is in one of them.
 */
export function networkMatcher(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of networks) {
    const network = networkOf(text);
    if (network) list.addSubnet(network.address, network.prefix, network.family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
