import type { FastifyInstance } from 'fastify';

import type { Runtime } from '../delivery/runtime.ts';
import type { HttpContext } from './context.ts';

/** With this class, the styles of the site hide the links to the extension. */
const HIDE_EXTENSION = "document.documentElement.classList.add('without-extension');\n";

/**
 * Serves the addresses of this service to the pages of the documentation, which list them first, and hides the links to the extension if
 * the service does not have it. A live service does not publish the address of its operator API.
 */
export function serveOwnServers(
  app: FastifyInstance,
  { mode, publicUrl, operatorUrl, hasExtension }: Pick<Runtime, 'mode' | 'publicUrl'> & Pick<HttpContext, 'operatorUrl' | 'hasExtension'>,
): void {
  app.get('/docs/own-servers.js', async (_request, reply) => {
    const description = mode === 'sandbox' ? 'Sandbox' : 'Live';
    const operator = mode === 'sandbox' ? operatorUrl() : undefined;
    const servers = {
      reseller: { url: publicUrl(), description },
      ...(operator === undefined ? {} : { operator: { url: operator, description } }),
    };
    return reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(`globalThis.ownServers = ${JSON.stringify(servers)};\n${hasExtension ? '' : HIDE_EXTENSION}`);
  });
}
