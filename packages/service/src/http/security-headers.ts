import type { FastifyInstance } from 'fastify';

/** Headers of every response. Responses contain secrets, and browsers must not guess their type. */
export const SECURITY_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Adds the security headers to every response of a route or a hook, which may replace them. */
export function sendSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    done();
  });
}
