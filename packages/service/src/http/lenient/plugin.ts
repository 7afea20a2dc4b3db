/**
 * Lenient mode: accepts requests of existing clients of such APIs that deviate from the document. The plugin converts each request to one
 * that follows the document, so the rest of the service needs no changes.
 */
import type { IncomingMessage } from 'node:http';

import { pathPattern } from '@reseller/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { apiKeyHeader, documentedOperations } from '../../reseller/document.ts';
import { FormBody } from '../form-body.ts';
import type { ServerPlugin } from '../server.ts';
import { readJsonBody, readLenientForm, readMultipartBody } from './body.ts';
import type { LenientReader } from './body.ts';
import type { Deviation } from './deviation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The deviations of the request. Undefined if the plugin is not installed. */
    deviations?: Set<Deviation>;
  }
}

/** Lists the deviations of a request in its response, as tokens (RFC 9651, Structured Field Values). */
const DEVIATION_HEADER = 'deviation';
const BEARER = /^bearer +(?<token>[^ ]+) *$/i;

const patterns = documentedOperations.map(({ path }) => pathPattern(path));

export const lenientPlugin: ServerPlugin = {
  rewriteUrl: withoutTrailingSlash,
  install(app) {
    app.decorateRequest('deviations');
    app.addHook('onRequest', (request, _reply, done) => {
      const found = new Set<Deviation>();
      request.deviations = found;
      if (request.originalUrl !== request.url) found.add('trailing-slash');
      if (acceptBearerToken(request)) found.add('bearer-token');
      done();
    });
    app.removeContentTypeParser('application/x-www-form-urlencoded');
    addReader(app, 'application/x-www-form-urlencoded', readLenientForm);
    addReader(app, 'application/json', readJsonBody, 'json-body');
    addReader(app, 'multipart/form-data', readMultipartBody, 'multipart-body');
    app.addHook('onSend', (request, reply, payload, done) => {
      if (request.deviations?.size) reply.header(DEVIATION_HEADER, [...request.deviations].toSorted().join(', '));
      done(null, payload);
    });
  },
};

/** Removes a trailing slash if the rest is a path of the document. */
function withoutTrailingSlash({ url = '/' }: IncomingMessage): string {
  const [path = '', ...query] = url.split('?');
  const shorter = path.slice(0, -1);
  if (!path.endsWith('/') || !patterns.some((pattern) => pattern.test(shorter))) return url;
  return [shorter, ...query].join('?');
}

/** Uses a bearer token as the API key, unless the request has the header of the document. */
function acceptBearerToken(request: FastifyRequest): boolean {
  const { headers, is404, routeOptions } = request;
  const header = apiKeyHeader.toLowerCase();
  const token = BEARER.exec(headers.authorization ?? '')?.groups?.['token'];
  const needsKey = is404 || routeOptions.config.api !== undefined;
  if (token === undefined || headers[header] !== undefined || !needsKey) return false;
  request.headers = { ...headers, [header]: token };
  return true;
}

function addReader(app: FastifyInstance, contentType: string, read: LenientReader, deviation?: Deviation): void {
  app.addContentTypeParser(contentType, { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    const { deviations = new Set(), headers, routeOptions } = request;
    const operation = routeOptions.config.api?.operation;
    if (!operation) return undefined;
    if (deviation) deviations.add(deviation);
    return new FormBody(await read({ operation, bytes, deviations, contentType: headers['content-type'] ?? '' }));
  });
}
