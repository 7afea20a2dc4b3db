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
  readonly operation: string;
  readonly client: string;
}

export function requestFacts(request: FastifyRequest): RequestFacts {
  const { id, method, originalUrl } = request;
  const [path = ''] = originalUrl.split('?');
  const masked = maskKeys(maskPath(path));
  return {
    requestId: id,
    method,
    path: (request.caller?.maskKey(masked) ?? masked).slice(0, MAX_PATH_LENGTH),
    operation: operationOf(request),
    client: clientAddressOf(request),
  };
}

/** The operation of a request, or `none` if it reached no operation. */
export function operationOf({ routeOptions: { config } }: FastifyRequest): string {
  const { api, operator } = config;
  // Operations of both APIs share some names.
  return api?.id ?? (operator ? `operator.${operator.id}` : 'none');
}
