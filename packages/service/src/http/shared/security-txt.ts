import type { FastifyInstance } from 'fastify';

import type { Runtime } from '../../delivery/runtime.ts';
import type { HttpContext } from './context.ts';

/** RFC 9116 recommends less than a year. */
const LIFETIME_MS = 180 * 86_400_000;

/** Serves /.well-known/security.txt (RFC 9116), if the provider has named a contact. */
export function serveSecurityTxt(
  app: FastifyInstance,
  { securityContact }: Pick<HttpContext, 'securityContact'>,
  { publicUrl }: Pick<Runtime, 'publicUrl'>,
): void {
  if (securityContact === undefined) return;
  app.get('/.well-known/security.txt', async (_request, reply) => {
    const fields = {
      Contact: securityContact,
      // The clock of a sandbox may be years ahead.
      Expires: new Date(Date.now() + LIFETIME_MS).toISOString(),
      'Preferred-Languages': 'en',
      Canonical: `${publicUrl()}/.well-known/security.txt`,
    };
    return reply.type('text/plain; charset=utf-8').send(
      Object.entries(fields)
        .map(([name, value]) => `${name}: ${value}\n`)
        .join(''),
    );
  });
}
