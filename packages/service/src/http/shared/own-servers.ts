import type { FastifyInstance } from 'fastify';

import type { Runtime } from '../../delivery/runtime.ts';
import type { HttpContext } from './context.ts';
import type { HiddenDocument } from './docs.ts';

/** With these classes, the styles of the site hide the links to the pages of a document. */
function hide(name: HiddenDocument): string {
  return `document.documentElement.classList.add('without-${name}');\n`;
}

/**
 * Serves the addresses of this service to the pages of the documentation, which list them first, and hides the links to
 * documents that it does not serve. A live service does not publish the address of its operator API to resellers.
 */
export function serveOwnServers(
  app: FastifyInstance,
  {
    mode,
    publicUrl,
    operatorUrl,
    hidden,
  }: Pick<Runtime, 'mode' | 'publicUrl'> & Pick<HttpContext, 'operatorUrl'> & { readonly hidden: readonly HiddenDocument[] },
): void {
  app.get('/docs/own-servers.js', async (_request, reply) => {
    const description = mode === 'sandbox' ? 'Sandbox' : 'Live';
    const operator = hidden.includes('operator') ? undefined : operatorUrl();
    const servers = {
      reseller: { url: publicUrl(), description },
      ...(operator === undefined ? {} : { operator: { url: operator, description } }),
    };
    return reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(`globalThis.ownServers = ${JSON.stringify(servers)};\n${hidden.map(hide).join('')}`);
  });
}
