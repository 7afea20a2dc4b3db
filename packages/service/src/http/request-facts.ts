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
  /** Identifiers of the trace and of the calling span (W3C Trace Context), if the request has a valid `traceparent`. */
  readonly trace_id?: string;
  readonly parent_span_id?: string;
}

/** Version, trace, span and flags. A later version may append parts. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:$|-)/;
/** Longer headers are ignored. */
const MAX_TRACEPARENT_LENGTH = 256;

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
    ...traceOf(request.headers['traceparent']),
  };
}

function traceOf(header: string | string[] | undefined): Pick<RequestFacts, 'trace_id' | 'parent_span_id'> {
  if (typeof header !== 'string' || header.length > MAX_TRACEPARENT_LENGTH) return {};
  const [, trace, span] = TRACEPARENT.exec(header) ?? [];
  return trace === undefined || span === undefined ? {} : { trace_id: trace, parent_span_id: span };
}

/** The operation of a request, or `none` if it reached no operation. */
export function operationOf({ routeOptions: { config } }: FastifyRequest): string {
  const { api, operator } = config;
  // Operations of both APIs share some names.
  return api?.id ?? (operator ? `operator.${operator.id}` : 'none');
}
