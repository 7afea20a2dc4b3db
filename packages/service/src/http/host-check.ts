import { isIP } from 'node:net';

import type { Runtime } from '../delivery/runtime.ts';
import type { HttpContext } from './context.ts';
import { RequestFault } from './protocol.ts';

/** Finds the fault of a request whose Host header names another host. */
export type HostCheck = (host: string | undefined) => RequestFault | undefined;

/**
 * A sandbox has known keys and often runs on the machine of a developer, whose browser also shows pages of strangers. Such a page can give
 * its own name the address of the sandbox (DNS rebinding), and then reads the responses. So a sandbox only takes the names that it has:
 * loopback names, those of its URLs, and configured ones. It takes every IP address, because no page can give itself one. A live service
 * takes every host, because nobody can send it a request without a key that the provider issued.
 */
export function createHostCheck(
  { mode, publicUrl }: Pick<Runtime, 'mode' | 'publicUrl'>,
  { allowedHosts, operatorUrl }: Pick<HttpContext, 'allowedHosts' | 'operatorUrl'>,
): HostCheck {
  return (host) => {
    if (mode === 'live' || host === undefined) return undefined;
    const name = nameOf(`http://${host}`);
    if (name === undefined)
      return new RequestFault('malformed-request', 'The header Host is not the name of a host. Send the host that the URL names.');
    if (name === 'localhost' || name.endsWith('.localhost') || isIP(name.replaceAll(/[[\]]/g, '')) > 0) return undefined;
    if (allowedHosts.includes(name) || [publicUrl(), operatorUrl()].some((url) => url !== undefined && nameOf(url) === name))
      return undefined;
    return new RequestFault(
      'malformed-request',
      'The header Host has a name that this sandbox does not have. Use its IP address or localhost, or add the name to RESELLER_ALLOWED_HOSTS.',
    );
  };
}

function nameOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}
