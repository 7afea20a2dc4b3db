import type { FastifyInstance, FastifyRequest } from 'fastify';

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
