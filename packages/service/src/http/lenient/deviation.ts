/**
 * Leniency (not shown in the specification; our choice): what existing clients of such APIs send
 * beside the rules of the document, and is understood all the same where the service is lenient.
 */
import type { IncomingMessage } from 'node:http';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import { apiKeyHeader, apiOperations } from '../api.ts';
import { pathPattern } from '@reseller/contract';

/** What a request may do otherwise than the document says; the document's description names each. */
export const deviations = ['json-body', 'multipart-body', 'boolean-text', 'trailing-slash', 'bearer-token'] as const;
export type Deviation = (typeof deviations)[number];

declare module 'fastify' {
  interface FastifyRequest {
    /** In what the request deviated and was understood; null where the service is strict. */
    deviations: Set<Deviation> | null;
  }
}

/** Names the deviations of the request that is answered: a list of tokens (RFC 9651, Structured Field Values). */
export const DEVIATION_HEADER = 'deviation';

/** Bodies that a lenient service reads beside forms, by their Content-Type without parameters. */
export const lenientBodies: Readonly<Record<string, 'json-body' | 'multipart-body'>> = {
  'application/json': 'json-body',
  'multipart/form-data': 'multipart-body',
};

const BEARER = /^bearer +(?<token>[^ ]+) *$/i;
const patterns = apiOperations.map(({ operation }) => pathPattern(operation.path));

/** The value of the API key header, or what stands for it where the service is lenient. */
export function presentedKey({ headers, deviations: found }: FastifyRequest): string | string[] | undefined {
  const key = headers[apiKeyHeader.toLowerCase()];
  if (key !== undefined || !found) return key;
  const token = BEARER.exec(headers.authorization ?? '')?.groups?.['token'];
  if (token !== undefined) found.add('bearer-token');
  return token;
}

/** The URL of a request without a closing slash, where a path of the document is left; for Fastify's `rewriteUrl`. */
export function withoutClosingSlash({ url = '/' }: IncomingMessage): string {
  const [path = '', ...query] = url.split('?');
  const shorter = path.slice(0, -1);
  if (!path.endsWith('/') || !patterns.some((pattern) => pattern.test(shorter))) return url;
  return [shorter, ...query].join('?');
}

/** Has requests carry their deviations, bodies of more kinds read, and every answer name what was deviated in. */
export function beLenient(app: FastifyInstance): void {
  for (const type of Object.keys(lenientBodies)) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  }
  app.addHook('onRequest', (request, _reply, done) => {
    request.deviations = new Set();
    if (request.originalUrl !== request.url) request.deviations.add('trailing-slash');
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.deviations?.size) reply.header(DEVIATION_HEADER, [...request.deviations].toSorted().join(', '));
    done(null, payload);
  });
}
