/** Requests that reach no operation, and operations that fail: every answer is the document's envelope. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { MAX_BODY_BYTES } from '../generated/facts.gen.ts';
import { refuse } from '../reseller/perform.ts';
import type { Refusable } from '../reseller/perform.ts';
import { Refusal } from '../rules/refusal.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { ApplicationParts } from './application.ts';
import { refusalReply } from './envelope.ts';
import { JSON_TYPE, send } from './handler.ts';
import { methodsByPath, SECURITY_HEADERS } from './http-server.ts';
import type { SocketAnswer } from './http-server.ts';
import { presentedKey } from './lenient/deviation.ts';
import { logEntry } from './log-entry.ts';
import { loggableError, maskingOf } from './masking.ts';
import { MALFORMED, parserFault, protocolFault, URL_TOO_LONG } from './protocol.ts';
import type { ProtocolFault } from './protocol.ts';

/** Has every failure of the application answered in the envelope, and logged where the caller is known. */
export function answerFailures(app: FastifyInstance, parts: ApplicationParts): void {
  const methodsOf = methodsByPath(app);
  app.decorateRequest('caller', null);

  app.addHook('onRequest', async (request, reply) => {
    const fault = protocolFault(request.raw);
    const refusal = fault ? refusalOfFault(fault) : request.is404 ? noRoute(request, reply, methodsOf(request.url)) : undefined;
    if (!refusal) return;
    // A request that no route takes is in the log of the caller all the same.
    await findCaller(parts, request);
    throw refusal;
  });

  // For a route that finds nothing itself, as the one for the files of the documentation does.
  app.setNotFoundHandler(async (request, reply) => {
    await findCaller(parts, request);
    return answer(parts, request, reply, noRoute(request, reply, []));
  });

  app.setErrorHandler(async (error, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal.status === 500) request.log.error({ err: loggable(request, error), requestId: request.id }, 'request failed');
    else if (error instanceof StoreUnavailableError)
      request.log.warn({ err: loggable(request, error), requestId: request.id }, 'the store cannot be reached');
    return answer(parts, request, reply, refusal);
  });
}

/** Answers a path that the router cannot read. Fastify runs no hook for it and catches no error. */
export async function answerUnreadablePath(
  parts: ApplicationParts,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  try {
    await findCaller(parts, request);
  } catch {
    // Who asks is not known while the store is away; the answer is the same for all.
    request.caller = null;
  }
  reply.headers(SECURITY_HEADERS);
  const fault = protocolFault(request.raw) ?? (statusOf(error) === 414 ? URL_TOO_LONG : MALFORMED);
  await answer(parts, request, reply, refusalOfFault(fault));
}

/** What is answered to bytes that are not an HTTP request. */
export function refuseBytes(error: NodeJS.ErrnoException): SocketAnswer {
  const { status, body } = refusalReply(null, refusalOfFault(parserFault(error)));
  return { status, type: JSON_TYPE, body };
}

function noRoute({ method }: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): Refusal {
  if (allowed.length === 0 && method !== 'CONNECT')
    return new Refusal(404, 'not_found', 'There is no such path. Check it against the documentation; paths have no closing slash.');
  reply.header('allow', allowed.join(', '));
  const advice = allowed.length === 0 ? 'Send the request to a path of the service.' : `Use ${allowed.join(' or ')}.`;
  return new Refusal(405, 'method_not_allowed', `This path does not take ${method}. ${advice}`);
}

function refusalOfFault({ kind, message }: ProtocolFault): Refusal {
  switch (kind) {
    case 'malformed-request':
      return new Refusal(400, 'malformed_request', message);
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

/** What a failure is to the caller. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreUnavailableError) {
    return new Refusal(
      503,
      'unavailable',
      'The service cannot reach its store at the moment. Wait the number of seconds in Retry-After, then send the request again.',
    );
  }
  switch (statusOf(error)) {
    case 413:
      return new Refusal(413, 'payload_too_large', `The request body is longer than ${MAX_BODY_BYTES} bytes. Send a shorter form.`);
    case 415:
      return new Refusal(
        415,
        'unsupported_media_type',
        'The Content-Type of the body is not supported. Send it as application/x-www-form-urlencoded.',
      );
    case 400:
      return refusalOfFault(MALFORMED);
    default:
      return new Refusal(
        500,
        'internal_error',
        'The service failed to process this request. Send it again later. If it keeps failing, give this requestID to the provider.',
      );
  }
}

async function answer(parts: ApplicationParts, request: FastifyRequest, reply: FastifyReply, refusal: Refusal): Promise<FastifyReply> {
  const { caller, id, routeOptions } = request;
  const shownId = routeOptions.config.api?.withoutRequestId ? null : id;
  if (!caller) return send(reply, refusalReply(shownId, refusal));
  const now = parts.ports.clock.now();
  const maskKey = maskingOf(caller.apiKey);
  const refusable: Refusable = {
    refuse: (refused) => refusalReply(shownId, refused, maskKey),
    logEntry: (replied, errorType) => logEntry({ request, caller, now, requestBody: '{}', maskKey }, replied, errorType),
  };
  try {
    return send(reply, await refuse(parts, refusable, refusal));
  } catch (error) {
    // The store that cannot keep the log entry is the answer then.
    if (refusal.status !== 503) request.log.error({ err: loggable(request, error), requestId: request.id }, 'request log not written');
    return send(reply, refusalReply(shownId, refusalOf(error)));
  }
}

function loggable({ caller }: FastifyRequest, error: unknown): Readonly<Record<string, unknown>> {
  return loggableError(error, caller ? maskingOf(caller.apiKey) : undefined);
}

/** Names the caller for the log, where the key is good. */
async function findCaller({ authenticate }: ApplicationParts, request: FastifyRequest): Promise<void> {
  try {
    request.caller = await authenticate(presentedKey(request), request.ip);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    request.caller = null;
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined;
}
