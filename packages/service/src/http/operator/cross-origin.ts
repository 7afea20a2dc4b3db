import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { Runtime } from '../../delivery/runtime.ts';

type Site = Pick<Runtime, 'mode' | 'publicUrl'>;

/** Browsers keep the response to a preflight request for this time, so that not every request needs one. */
const PREFLIGHT_LIFETIME_SECONDS = 600;

/**
 * Lets the documentation of a sandbox call its operator API, which has another port and so another origin. Requests need the token, which
 * browsers never send by themselves. Other origins, and a live service, get none of these headers.
 */
export function allowDocumentation(app: FastifyInstance, site: Site): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (isFromDocumentation(request, site)) {
      reply.headers({ 'access-control-allow-origin': request.headers.origin, vary: 'origin' });
      if (isPreflight(request, site)) {
        reply.headers({
          'access-control-allow-methods': 'GET, POST, PUT, DELETE',
          'access-control-allow-headers': 'authorization, content-type',
          'access-control-max-age': PREFLIGHT_LIFETIME_SECONDS,
        });
      }
    }
    done(null, payload);
  });
}

/** Whether a browser asks, for a page of the documentation, which requests it may send. */
export function isPreflight(request: FastifyRequest, site: Site): boolean {
  const { method, headers } = request;
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && isFromDocumentation(request, site);
}

function isFromDocumentation({ headers: { origin } }: FastifyRequest, { mode, publicUrl }: Site): boolean {
  return mode === 'sandbox' && origin !== undefined && origin === new URL(publicUrl()).origin;
}
