import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** URLs of a documentation page and of the OpenAPI document that it shows. */
export interface Documentation {
  readonly documentation: string;
  readonly openapi: string;
}

/** @param folder URL of the built documentation, with a trailing slash. */
export function documentationAt(folder: string, page: 'reseller' | 'operator'): Documentation {
  const documentation = page === 'reseller' ? folder : `${folder}${page}/`;
  return { documentation, openapi: `${folder}openapi/${page}.json` };
}

/**
 * `GET /` leads people who only have the address of the service to the documentation. A browser is redirected to it, and other clients
 * receive its URL. The path needs no key and is not an operation of the documents.
 *
 * @param bodyOf Returns the body for clients other than browsers.
 */
export function serveRoot(
  app: FastifyInstance,
  documentation: () => Documentation,
  bodyOf: (documentation: Documentation, request: FastifyRequest) => unknown,
): void {
  app.get('/', (request, reply): FastifyReply => {
    const found = documentation();
    reply.header('vary', 'accept').header('cache-control', 'no-store');
    const isBrowser = /\btext\/html\b/i.test(request.headers.accept ?? '');
    return isBrowser ? reply.redirect(found.documentation) : reply.send(bodyOf(found, request));
  });
}
