/** Which URLs and addresses webhooks may have, so that nobody reaches the provider's own network through the service. */
import { lookup as dnsLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

import ipaddr from 'ipaddr.js';

import type { Runtime } from '../../delivery/runtime.ts';

/** Public addresses that clouds use inside: the agent of Azure. */
const INTERNAL_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

type Reach = Pick<Runtime, 'mode' | 'publicUrl' | 'listeningAddresses'>;

/**
 * Whether a webhook may be on the machine of the service: in a sandbox that only its own machine can call. A sandbox that listens on all addresses
 * shows a URL of its own machine, too, so the addresses decide.
 */
export function allowsLoopback({ mode, publicUrl, listeningAddresses }: Reach): boolean {
  return mode === 'sandbox' && isLoopbackName(new URL(publicUrl()).hostname) && listeningAddresses().every(isLoopback);
}

function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || isLoopback(withoutBrackets(hostname));
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** Whether a request may go to an address: to a public one, or to a loopback one if that is allowed. */
export function isAllowedAddress(address: string, loopback: boolean): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4 address that is mapped into IPv6 is judged as IPv4.
  const parsed = ipaddr.process(address);
  if (parsed.range() === 'loopback') return loopback;
  return parsed.range() === 'unicast' && !INTERNAL_ADDRESSES.has(parsed.toString());
}

/** The rule of a form that a URL breaks, or undefined. Its name is resolved for each request. */
export function brokenRuleOfUrl(runtime: Reach, text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const loopback = allowsLoopback(runtime);
  const isLocal = url !== undefined && loopback && isLoopbackName(url.hostname);
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)))
    return loopback ? 'must be a URL with https, or with http at this machine, such as http://127.0.0.1:8080/' : 'must be a URL with https';
  if (url.username !== '' || url.password !== '' || url.hash !== '') return 'must have no user name, password and fragment';
  const host = withoutBrackets(url.hostname);
  return ipaddr.isValid(host) && !isAllowedAddress(host, loopback) ? 'must have a public address' : undefined;
}

/** The address of a URL without a name. */
export function addressIn(url: URL): string | undefined {
  const host = withoutBrackets(url.hostname);
  return ipaddr.isValid(host) ? host : undefined;
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** A name that leads to no address that a request may go to. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

/**
 * Resolves names for connections. The connection uses the addresses that it has checked, so a name that leads elsewhere a moment later gains nothing.
 *
 * @param resolve Default: as the machine resolves names.
 */
export function guardedLookup(loopback: boolean, resolve: typeof dnsLookup = dnsLookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const allowed = error ? [] : found.filter(({ address }) => isAllowedAddress(address, loopback));
      const [first] = allowed;
      if (!first) return callback(error ?? new AddressRefusedError(`${hostname} has no public address`), '', 0);
      if (options.all) return callback(null, allowed);
      return callback(null, first.address, first.family);
    });
  };
}
