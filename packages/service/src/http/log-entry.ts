import type { FastifyRequest } from 'fastify';

import type { Reply } from '../reseller/perform.ts';
import type { LogEntry } from '../store/store.ts';
import type { Caller } from './authenticate.ts';
import { maskPath } from './masking.ts';
import type { MaskKey } from './masking.ts';

/** A request as the log tells it. */
export interface LoggedRequest {
  readonly request: FastifyRequest;
  readonly caller: Caller;
  /** Milliseconds. */
  readonly now: number;
  /** JSON text of the parameters, secret names masked. */
  readonly requestBody: string;
  readonly maskKey: MaskKey;
}

/** The log entry of a request and its reply; wherever the caller's key stands in it, it is masked. */
export function logEntry({ request, caller, now, requestBody, maskKey }: LoggedRequest, reply: Reply, errorType: string | null): LogEntry {
  return {
    account_id: caller.accountId,
    request_id: request.id,
    date: now,
    success: errorType === null ? 1 : 0,
    endpoint: maskKey(maskPath(pathOf(request.originalUrl))),
    method: request.method,
    request_body: maskKey(requestBody),
    error_type: errorType,
    response_body: maskKey(reply.loggedBody),
  };
}

/** The path of a URL, without a query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
