import { isIP } from 'node:net';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { Runtime } from '../../delivery/runtime.ts';
import type { HttpContext } from './context.ts';
import { RequestFault } from './protocol.ts';

/** Pages of another origin that may call an API. */
export interface AllowedPages {
  /** Undefined while there is none. Its pages send credentials by themselves, and browsers never do so for them. */
  origin(): string | undefined;
  /** Names of request headers. */
  readonly headers: string;
}

/** Browsers keep the response to a preflight request for this time, so that not every request needs one. */
const PREFLIGHT_LIFETIME_SECONDS = 600;

/**
 * Lets the pages of a sandbox call its APIs, of which one always has another port and so another origin: the documentation calls the
 * operator API, and the console the reseller API. Requests need a token or a key in a header, which browsers never send by themselves. Other
 * origins, and a live service, get none of these headers.
 */
export function allowPages(app: FastifyInstance, pages: AllowedPages): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (isFrom(pages, request)) {
      reply.headers({ 'access-control-allow-origin': request.headers.origin, vary: 'origin' });
      if (isPreflight(request, pages)) {
        reply.headers({
          'access-control-allow-methods': 'GET, POST, PUT, DELETE',
          'access-control-allow-headers': pages.headers,
          'access-control-max-age': PREFLIGHT_LIFETIME_SECONDS,
        });
      }
    }
    done(null, payload);
  });
}

/** Whether a browser asks which requests an allowed page may send. */
export function isPreflight(request: FastifyRequest, pages: AllowedPages): boolean {
  const { method, headers } = request;
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && isFrom(pages, request);
}

function isFrom(pages: AllowedPages, { headers: { origin } }: FastifyRequest): boolean {
  return origin !== undefined && origin === pages.origin();
}

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
    const name = hostNameOf(`http://${host}`);
    if (name === undefined)
      return new RequestFault('malformed-request', 'The header Host is not the name of a host. Send the host that the URL names.');
    if (name === 'localhost' || name.endsWith('.localhost') || isIP(name.replaceAll(/[[\]]/g, '')) > 0) return undefined;
    if (allowedHosts.includes(name) || [publicUrl(), operatorUrl()].some((url) => url !== undefined && hostNameOf(url) === name))
      return undefined;
    return new RequestFault(
      'malformed-request',
      'The header Host has a name that this sandbox does not have. Use its IP address or localhost, or add the name to RESELLER_ALLOWED_HOSTS.',
    );
  };
}

function hostNameOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}

/** Headers of every response. Responses contain secrets, and browsers must not guess their type. */
export const SECURITY_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Adds the security headers to every response of a route or a hook, which may replace them. */
export function sendSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    done();
  });
}
