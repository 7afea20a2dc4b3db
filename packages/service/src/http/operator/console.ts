/** The console, as files. Everything that it shows comes from the two APIs. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { FastifyInstance } from 'fastify';

import { refuseMissingFiles } from '../shared/missing-files.ts';
import { RequestFault } from '../shared/protocol.ts';

/** The built console. */
export interface ConsoleSite {
  readonly directory: string;
  /** Without `connect-src`, which depends on the service. */
  readonly contentSecurityPolicy: string;
  /** Called for a page while the directory has none. Returns a page that says why. */
  pageWhileMissing(): string;
}

const PATH = '/console';
/**
 * For a page that waits for the built console. A browser does not load an address with a fragment again for a meta refresh, and the fragment of
 * the first visit has the sign-in code. The Content-Security-Policy allows no inline script.
 */
export const RELOAD_SCRIPT = `${PATH}/reload.js`;
const FOREVER = 'public, max-age=31536000, immutable';

/**
 * Serves the console at /console/. Every address below it without a file is a page of the console, which its script shows.
 *
 * @param resellerUrl The reseller API of a sandbox, to which the console replays requests. Undefined for a live service.
 */
export async function serveConsole(
  app: FastifyInstance,
  { directory, contentSecurityPolicy, pageWhileMissing }: ConsoleSite,
  resellerUrl: () => string | undefined,
): Promise<void> {
  const { default: fastifyStatic } = await import('@fastify/static');
  // The location is relative, so that it works behind a proxy that adds a prefix.
  app.get(PATH, (_request, reply) => reply.redirect(`.${PATH}/`, 301));
  await app.register(
    async (site) => {
      site.addHook('onSend', (_request, reply, payload, done) => {
        reply.headers({
          'content-security-policy': `${contentSecurityPolicy}; connect-src 'self' ${resellerUrl() ?? ''}`.trimEnd(),
          'referrer-policy': 'no-referrer',
          'cross-origin-opener-policy': 'same-origin',
        });
        done(null, payload);
      });
      refuseMissingFiles(site, noSuchFile);
      await site.register(fastifyStatic, {
        root: join(directory, 'assets'),
        prefix: '/assets/',
        preCompressed: true,
        cacheControl: false,
        setHeaders: (reply) => void reply.header('cache-control', FOREVER),
      });
      site.get('/reload.js', (_request, reply) =>
        reply
          .type('text/javascript; charset=utf-8')
          .header('cache-control', 'no-cache')
          .send('setTimeout(() => location.reload(), 1000);\n'),
      );
      site.get('/*', async (_request, reply) => {
        const page = await readFile(join(directory, 'index.html'), 'utf8').catch(pageWhileMissing);
        return reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(page);
      });
    },
    { prefix: PATH },
  );
}

function noSuchFile(): RequestFault {
  return new RequestFault('not-found', 'There is no such file. The console begins at /console/.');
}
