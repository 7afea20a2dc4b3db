import type { FastifyInstance } from 'fastify';

/** Headers of every response. Responses contain secrets, and browsers must not guess their type. */
export const SECURITY_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Adds the security headers to every response of a route or a hook, unless it has set them itself. */
export function sendSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!reply.hasHeader(name)) reply.header(name, value);
    done(null, payload);
  });
}
