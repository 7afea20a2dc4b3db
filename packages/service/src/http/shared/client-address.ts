/** The address that a request comes from, for limits, logs and the audit. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4, isIPv6 } from 'node:net';

import type { FastifyRequest } from 'fastify';
import { Address6 } from 'ip-address';

/** Bits of the network that a provider usually assigns to one IPv6 customer. */
const CLIENT_PREFIX_BITS = 64;

/** Behind a trusted proxy, this is the address that the proxy reports in X-Forwarded-For. */
export function clientAddressOf({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  // A proxy that does not set the header itself passes on any text of the client.
  return canonicalAddress(ip) ?? canonicalAddress(socket.remoteAddress ?? '') ?? 'unknown';
}

/**
 * The address that an upgrade comes from, which Fastify handles no request for: the last one that no trusted proxy has.
 *
 * @param trustedProxies Addresses and networks.
 */
export function addressOfUpgrade({ socket, headers }: IncomingMessage, trustedProxies: readonly string[]): string {
  const given = `${String(headers['x-forwarded-for'] ?? '')},${socket.remoteAddress ?? ''}`.split(',').filter((text) => text !== '');
  const addresses = given.map((text) => canonicalAddress(text.trim())).toReversed();
  const proxies = new BlockList();
  for (const proxy of trustedProxies) {
    const [network = '', bits] = proxy.split('/');
    const family = isIPv6(network) ? 'ipv6' : 'ipv4';
    if (bits === undefined) proxies.addAddress(network, family);
    else proxies.addSubnet(network, Number(bits), family);
  }
  const client = addresses.find((address) => address === undefined || !proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'));
  return client ?? addresses.at(-1) ?? 'unknown';
}

/** The clients that are counted as one: a single IPv4 address, or the /64 network of an IPv6 address, whose owner can use all of it. */
export function clientNetworkOf(address: string): string {
  if (!isIPv6(address)) return address;
  return new Address6(`${withoutZone(address)}/${CLIENT_PREFIX_BITS}`).networkForm();
}

function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return undefined;
  const address = new Address6(withoutZone(text));
  // A server that listens on all addresses sees IPv4 clients as ::ffff:192.0.2.1. As IPv6, all of them would be in one /64.
  return address.isMapped4() ? address.to4().correctForm() : address.correctForm();
}

function withoutZone(address: string): string {
  return address.split('%')[0] ?? '';
}
