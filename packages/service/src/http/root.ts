import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Where the documentation is: its page, and the OpenAPI document that the page shows. */
export interface Documentation {
  readonly documentation: string;
  readonly openapi: string;
}

/** @param folder URL of the folder of the built documentation, with a closing slash. */
export function documentationAt(folder: string, page: 'index' | 'operator'): Documentation {
  return { documentation: page === 'index' ? folder : `${folder}${page}.html`, openapi: `${folder}${page}.json` };
}

/**
 * `GET /` is where somebody arrives who has only the address of the service. A browser is led to the documentation, and a program is
 * told where it is. The path needs no key and is not an operation of the documents.
 *
 * @param bodyOf What a program receives.
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
