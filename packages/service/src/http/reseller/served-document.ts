import type { FastifyInstance } from 'fastify';

import type { Runtime } from '../../delivery/runtime.ts';
import { loadSpecification, resellerDocument } from '../../reseller/document.ts';

/** Serves the OpenAPI document of this service, with its address, to anyone: tools ask for it before they have a key. */
export function serveDocument(
  app: FastifyInstance,
  { hasExtension, publicUrl, mode }: Pick<Runtime, 'hasExtension' | 'publicUrl' | 'mode'>,
): void {
  let text: string | undefined;
  app.get('/openapi.json', async (_request, reply) => {
    const servers = [{ url: publicUrl(), description: mode === 'sandbox' ? 'Sandbox' : 'Live' }];
    text ??= JSON.stringify({ ...(hasExtension ? resellerDocument : await loadSpecification()), servers });
    return reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache').send(text);
  });
}
