import type { FastifyRequest } from 'fastify';

import { maskPath } from '../reseller/masking.ts';
import { maskKeys } from '../rules/credentials.ts';
import { clientAddressOf } from './client-address.ts';

/** Longer paths are cut. */
const MAX_PATH_LENGTH = 300;

/** The members of each log line about a request. All lines of a request have its identifier, which customers report. */
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
