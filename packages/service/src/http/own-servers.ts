import type { FastifyInstance } from 'fastify';

import type { ServiceContext } from './application.ts';
import { publicUrlFrom } from './invoice-document.ts';

/**
 * Tells the documentation's pages where this service listens, so that they show its address first: a reader of `/docs/` wants to
 * call the service that serves them. Readers of a live service are not told where its operator API is.
 */
export function serveOwnServers(
  app: FastifyInstance,
  { mode, operatorUrl, publicUrl }: Pick<ServiceContext, 'mode' | 'operatorUrl' | 'publicUrl'>,
): void {
  app.get('/docs/own-servers.js', async (_request, reply) => {
    const description = mode === 'sandbox' ? 'Sandbox' : 'Live';
    const operator = mode === 'sandbox' ? operatorUrl() : undefined;
    const servers = {
      index: { url: publicUrlFrom({ publicUrl }, app), description },
      ...(operator === undefined ? {} : { operator: { url: operator, description } }),
    };
    return reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(`globalThis.ownServers = ${JSON.stringify(servers)};\n`);
  });
}
