/** The built documentation, as files (not shown in the specification). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { isError } from '@reseller/contract/is-error';
import type { FastifyInstance } from 'fastify';

import { Refusal } from '../../rules/refusal.ts';
import type { HttpContext } from './context.ts';

/** A site of static files. */
export interface Docs {
  readonly directory: string;
  readonly contentSecurityPolicy: string;
}

const PATH = '/docs';
/** The folder of files whose names contain their hash, so that they never change. */
const ASSETS = 'assets';
/** The last segment of the address of a page. */
const PAGE = /(\/[\w-]+)(?=\?|$)/;
/** The pages and files about a part of the service. The document `reseller` has the extension, unlike `specification`. */
const PARTS: Readonly<Record<HiddenDocument, RegExp>> = {
  extension: /^\/(?:(?:operations|concepts)\/extension\b|(?:openapi|collections)\/reseller\.)/,
  operator: /^\/(?:openapi\/|collections\/)?operator\b/,
};
/** VitePress writes this page for addresses that do not exist. */
const ERROR_PAGE = '404.html';
const FOREVER = 'public, max-age=31536000, immutable';

/** A document whose pages are not served. */
export type HiddenDocument = 'extension' | 'operator';

/** The documents that the port of resellers does not show: an extension that the service does not have, and the operator API of a live one. */
export function hiddenFromResellers({ runtime }: Pick<HttpContext, 'runtime'>): readonly HiddenDocument[] {
  return [...(runtime.hasExtension ? [] : (['extension'] as const)), ...(runtime.mode === 'live' ? (['operator'] as const) : [])];
}

/** Serves the documentation at /docs/. At other paths below it, browsers get the error page of the site, and programs the envelope. */
export async function serveDocs(
  app: FastifyInstance,
  { directory, contentSecurityPolicy }: Docs,
  { hidden, operatorUrl }: { readonly hidden: readonly HiddenDocument[]; readonly operatorUrl: () => string | undefined },
): Promise<void> {
  // The location is relative, so that it works behind a proxy that adds a prefix.
  app.get(PATH, (_request, reply) => reply.redirect(`.${PATH}/`, 301));
  const errorPage = await readFile(join(directory, ERROR_PAGE), 'utf8').catch(() => undefined);
  // Loaded here, because a service without the site does not need it.
  const { default: fastifyStatic } = await import('@fastify/static');
  await app.register(servePages, { prefix: PATH });

  /** The pages of a sandbox also send requests to its operator API. */
  function policy(): string {
    const operator = operatorUrl();
    return operator === undefined ? contentSecurityPolicy : `${contentSecurityPolicy}; connect-src 'self' ${operator}`;
  }

  async function servePages(site: FastifyInstance): Promise<void> {
    const handleError = site.errorHandler;
    site.setErrorHandler(async (error, request, reply) => {
      const { headers } = fileErrorOf(error);
      if (headers) reply.headers(headers);
      return handleError.call(site, refusalOf(error) ?? error, request, reply);
    });
    // The addresses of pages have no extension. Fastify has chosen the route already, so only the file server reads this URL.
    site.addHook('onRequest', async ({ raw }) => {
      raw.url = raw.url?.replace(PAGE, '$1.html');
    });
    site.addHook('onSend', (_request, reply, payload, done) => {
      reply.headers({ 'content-security-policy': policy(), 'referrer-policy': 'no-referrer' });
      done(null, payload);
    });
    site.setNotFoundHandler(async ({ headers: { accept = '' } }, reply) => {
      if (errorPage === undefined || !accept.includes('text/html')) throw noSuchPage();
      return reply.code(404).type('text/html; charset=utf-8').send(errorPage);
    });
    await site.register(fastifyStatic, {
      root: directory,
      preCompressed: true,
      cacheControl: false,
      allowedPath: (path) => !hidden.some((name) => PARTS[name].test(path)),
      setHeaders: (reply, path) => void reply.header('cache-control', path.startsWith(join(directory, ASSETS)) ? FOREVER : 'no-cache'),
    });
  }
}

function noSuchPage(): Refusal {
  return new Refusal(404, 'not_found', 'There is no such page. The documentation begins at /docs/.');
}

/** The refusal for an error of the file server, or undefined for a failure of the service. */
function refusalOf(error: unknown): Refusal | undefined {
  const { status } = fileErrorOf(error);
  if (status === 412)
    return new Refusal(412, 'precondition_failed', 'The file is not the one that If-Match or If-Unmodified-Since names. Read it again.');
  if (status === 416)
    return new Refusal(416, 'range_not_satisfiable', 'The file does not have this range. Ask for one within the length in Content-Range.');
  // The file server refuses paths outside the site with 400 or 403.
  if (status !== undefined && status < 500) return noSuchPage();
  return undefined;
}

interface FileError {
  readonly status: number | undefined;
  readonly headers: Record<string, string> | undefined;
}

function fileErrorOf(error: unknown): FileError {
  if (!isError(error)) return { status: undefined, headers: undefined };
  const range = 'headers' in error && typeof error.headers === 'object' ? new Headers(Object(error.headers)).get('content-range') : null;
  return {
    status: 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined,
    headers: range === null ? undefined : { 'content-range': range },
  };
}
