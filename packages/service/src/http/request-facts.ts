import type { FastifyRequest } from 'fastify';

import { maskPath } from '../reseller/masking.ts';
import { maskKeys } from '../rules/credentials.ts';
import { clientAddressOf } from './client-address.ts';

/** A longer path is cut. */
const MAX_PATH_LENGTH = 300;

/** The members of each log line about a request, so that the identifier that a customer reports finds all of them. */
export interface RequestFacts {
  readonly requestId: string;
  readonly method: string;
  /** Without the query, and with secrets masked. */
  readonly path: string;
  /** `none` if the request reached no operation. */
  readonly operation: string;
  readonly client: string;
}

export function requestFacts(request: FastifyRequest): RequestFacts {
  const { id, method, originalUrl, routeOptions } = request;
  const { api, operator } = routeOptions.config;
  const [path = ''] = originalUrl.split('?');
  const masked = maskKeys(maskPath(path));
  return {
    requestId: id,
    method,
    path: (request.caller?.maskKey(masked) ?? masked).slice(0, MAX_PATH_LENGTH),
    // Operations of both APIs share some names.
    operation: api?.id ?? (operator ? `operator.${operator.id}` : 'none'),
    client: clientAddressOf(request),
  };
}
