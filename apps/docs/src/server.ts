import { existsSync } from 'node:fs';
import { join } from 'node:path';

import fastifyStatic from '@fastify/static';
import { hasErrorCode } from '@reseller/contract/is-error';
import fastify from 'fastify';
import type { FastifyReply } from 'fastify';

import { BASE, contentSecurityPolicy, siteDirectory } from './site.ts';

/** A running server of the site. */
export interface RunningSite {
  /** Its address, with a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
}

const host = '127.0.0.1';

/** The last segment of the address of a page. */
const PAGE = /(\/[\w-]+)(?=\?|$)/;

/**
 * Serves the built site on this machine.
 *
 * @param port The port to listen on; 0 picks a free port.
 * @throws Error if the site is not built or the port is in use; its message is for the user.
 */
export async function startSite(port: number): Promise<RunningSite> {
  if (!existsSync(join(siteDirectory, 'index.html'))) {
    throw new Error('The site is not built yet. Build it: npx -y pnpm@12 build');
  }
  const app = fastify({ forceCloseConnections: true });
  app.addHook('onSend', async (_request, reply) => {
    reply.headers({
      'content-security-policy': contentSecurityPolicy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
  });
  // The addresses of pages have no extension.
  app.addHook('onRequest', async ({ raw }) => {
    raw.url = raw.url?.replace(PAGE, '$1.html');
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).sendFile('404.html'));
  app.get('/', (_request, reply) => reply.redirect(BASE));
  await app.register(fastifyStatic, {
    root: siteDirectory,
    prefix: BASE,
    preCompressed: true,
    cacheControl: false,
    setHeaders: setCaching,
  });
  try {
    return { url: `${await app.listen({ port, host })}${BASE}`, close: () => app.close() };
  } catch (error) {
    await app.close();
    if (hasErrorCode(error, 'EADDRINUSE')) {
      throw new Error(`Port ${port} is in use. Set DOCS_PORT to another port, or stop the process that uses it.`, { cause: error });
    }
    throw error;
  }
}

/** The names of files in `assets` contain their hash, so they never change. The others are checked at each use. */
function setCaching(reply: FastifyReply, path: string): void {
  const isHashed = path.startsWith(join(siteDirectory, 'assets'));
  reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
}
