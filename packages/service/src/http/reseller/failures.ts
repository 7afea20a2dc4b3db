import type { FastifyReply, FastifyRequest } from 'fastify';

import { ClockError } from '../../delivery/clock-check.ts';
import { InfrastructureError } from '../../delivery/deliver.ts';
import { errorCodec } from '../../reseller/codec.ts';
import type { LoggedRequest } from '../../reseller/codec.ts';
import { logReply } from '../../reseller/perform.ts';
import { RateLimited, Refusal } from '../../rules/refusal.ts';
import { StoreBusyError, StoreUnavailableError } from '../../store/store.ts';
import { clientAddressOf } from '../shared/client-address.ts';
import type { RawResponse } from '../shared/connections.ts';
import type { HttpContext } from '../shared/context.ts';
import { loggableError } from '../shared/loggable-error.ts';
import { countFailure } from '../shared/metrics.ts';
import { requestFacts } from '../shared/observability.ts';
import { RequestFault } from '../shared/protocol.ts';
import type { ServerOptions } from '../shared/server.ts';
import type { Caller } from './authenticate.ts';
import { apiKeyOf, logFactsOf, JSON_TYPE, pathOf, send } from './handler.ts';

/** Sends failures of the reseller API in the envelope. If the caller is known, the response is logged in the request log. */
export function failureSender(context: HttpContext): ServerOptions['sendFailure'] {
  return async (error, request, reply) => {
    let failure = error;
    let caller: Caller | null = null;
    try {
      caller = request.caller;
      if (!caller && error instanceof RequestFault) {
        caller = await findCaller(context, request);
        // A request that reaches no operation has not been counted yet.
        if (caller) await context.controls.countRequest(caller, reply);
      }
    } catch (storeError) {
      // A request that cannot be read is malformed for every caller.
      const isMalformed = error instanceof RequestFault && error.kind === 'malformed-request';
      if (!isMalformed || storeError instanceof RateLimited) failure = storeError;
    }
    const refusal = toRefusal(failure);
    request.caller = caller;
    countFailure(context.metrics, request, { api: 'reseller', status: refusal.status, error: failure });
    logFailure(request, caller, { refusal, error: failure });
    const isStoreFailure = failure instanceof StoreBusyError || failure instanceof StoreUnavailableError;
    return sendLogged(context, request, reply, { refusal, caller, isStoreFailure });
  };
}

/** The response to bytes that are not an HTTP request. */
export function rawErrorResponse(fault: RequestFault): RawResponse {
  const { status, body } = errorCodec.error(null, toRefusal(fault));
  return { status, type: JSON_TYPE, body };
}

async function sendLogged(
  { runtime: { store, ports }, refusedRequests }: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { refusal, caller, isStoreFailure }: { refusal: Refusal; caller: Caller | null; isStoreFailure: boolean },
): Promise<FastifyReply> {
  const { id, method, originalUrl, routeOptions } = request;
  const codec = routeOptions.config.api?.codec ?? errorCodec;
  // A failing store may have committed the request with its log entry. A busy store would make the caller wait a second time.
  if (!caller || isStoreFailure) return send(reply, codec.error(id, refusal));
  const { accountId, maskKey } = caller;
  const logged: LoggedRequest = {
    id,
    accountId,
    now: ports.clock.now(),
    method,
    path: pathOf(originalUrl),
    form: '{}',
    maskKey,
    ...logFactsOf(request, reply, caller),
  };
  const response = codec.error(id, refusal, maskKey);
  try {
    if (refusal instanceof RateLimited) await refusedRequests.log(caller.keyId, logged, response);
    else await logReply(store, logged, response);
    return send(reply, response);
  } catch (error) {
    request.log.error({ ...requestFacts(request), err: loggableError(error, maskKey) }, 'request log not written');
    return send(reply, codec.error(id, toRefusal(error)));
  }
}

function logFailure(request: FastifyRequest, caller: Caller | null, { refusal, error }: { refusal: Refusal; error: unknown }): void {
  const line = { ...requestFacts(request), account: caller?.accountId, err: loggableError(error, caller?.maskKey) };
  if (refusal.status === 500) request.log.error(line, 'request failed');
  else if (error instanceof StoreBusyError) request.log.warn(line, 'too many requests are waiting');
  else if (error instanceof StoreUnavailableError) request.log.warn(line, 'the store cannot be reached');
  else if (error instanceof InfrastructureError) request.log.warn({ ...line, system: error.system }, 'the infrastructure failed');
  else if (error instanceof ClockError) request.log.warn(line, 'request refused while the clock of the machine is wrong');
}

/** Finds the caller of a request that reaches no operation, for the request log. */
async function findCaller({ authenticate }: HttpContext, request: FastifyRequest): Promise<Caller | null> {
  try {
    return await authenticate(apiKeyOf(request), clientAddressOf(request));
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof RequestFault) return refusalOfFault(error);
  if (error instanceof StoreBusyError) {
    return new Refusal(
      503,
      'unavailable',
      'The service has more requests than it can handle at the moment. It has not begun this one. Wait the number of seconds in Retry-After, then send the request again.',
    );
  }
  if (error instanceof InfrastructureError) return new Refusal(503, 'unavailable', error.message);
  if (error instanceof StoreUnavailableError) {
    return new Refusal(
      503,
      'unavailable',
      'The service cannot reach its store at the moment. Wait the number of seconds in Retry-After, then send the request again.',
    );
  }
  // The reason is for the operator, so only the log has it.
  if (error instanceof ClockError) {
    return new Refusal(
      503,
      'unavailable',
      'The service cannot process requests at the moment. Wait the number of seconds in Retry-After, then send the request again.',
    );
  }
  return new Refusal(
    500,
    'internal_error',
    'The service failed to process this request. Send it again later. If it keeps failing, give this requestID to the provider.',
  );
}

function refusalOfFault({ kind, message }: RequestFault): Refusal {
  switch (kind) {
    case 'malformed-request':
      return new Refusal(400, 'malformed_request', message);
    case 'not-found':
      return new Refusal(404, 'not_found', message);
    case 'method-not-allowed':
      return new Refusal(405, 'method_not_allowed', message);
    case 'request-timeout':
      return new Refusal(408, 'request_timeout', message);
    case 'payload-too-large':
      return new Refusal(413, 'payload_too_large', message);
    case 'uri-too-long':
      return new Refusal(414, 'uri_too_long', message);
    case 'unsupported-media-type':
      return new Refusal(415, 'unsupported_media_type', message);
    case 'headers-too-large':
      return new Refusal(431, 'headers_too_large', message);
    case 'http-version-not-supported':
      return new Refusal(505, 'http_version_not_supported', message);
  }
}
