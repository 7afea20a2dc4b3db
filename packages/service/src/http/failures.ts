/** Requests that reach no operation, and operations that fail: every answer is the document's envelope. */
import type { Socket } from 'node:net';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { MAX_BODY_BYTES } from '../generated/facts.gen.ts';
import { refuse } from '../operations/perform.ts';
import type { Refusable } from '../operations/perform.ts';
import { Refusal } from '../refusal.ts';
import { StoreUnavailableError } from '../store/store.ts';
import { apiOperations } from './api.ts';
import type { ApplicationParts } from './application.ts';
import { refusalReply } from './envelope.ts';
import { send } from './handler.ts';
import { presentedKey } from './lenient/deviation.ts';
import { logEntry, pathOf } from './log-entry.ts';
import { pathPattern } from './path-pattern.ts';

const paths = apiOperations.map(({ operation }) => ({
  method: operation.method,
  pattern: pathPattern(operation.path),
}));

/** Has every failure of the application answered in the envelope, and logged where the caller is known. */
export function answerFailures(app: FastifyInstance, parts: ApplicationParts): void {
  app.decorateRequest('caller', null);

  app.setNotFoundHandler(async (request, reply) => {
    await findCaller(parts, request);
    const allowed = paths.filter(({ pattern }) => pattern.test(pathOf(request.url))).map(({ method }) => method);
    if (allowed.length === 0)
      return answer(
        parts,
        request,
        reply,
        new Refusal(404, 'not_found', 'There is no such path. Check it against the documentation; paths have no closing slash.'),
      );
    reply.header('allow', allowed.join(', '));
    return answer(
      parts,
      request,
      reply,
      new Refusal(405, 'method_not_allowed', `This path does not take ${request.method}. Use ${allowed.join(' or ')}.`),
    );
  });

  app.setErrorHandler(async (error, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal.status === 500) request.log.error({ err: error }, 'request failed');
    else if (error instanceof StoreUnavailableError) request.log.warn({ err: error, requestId: request.id }, 'the store cannot be reached');
    return answer(parts, request, reply, refusal);
  });
}

/** A path that no router can read. Fastify answers it before any hook, and nobody but this catches what fails. */
export async function answerUnreadablePath(parts: ApplicationParts, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  try {
    await findCaller(parts, request);
  } catch {
    // Who asks is not known while the store is away; the answer is the same for all.
    request.caller = null;
  }
  await answer(parts, request, reply, unreadable());
}

/** Bytes that are no HTTP request: there is no request to answer, only a connection. */
export function answerNoHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { body } = refusalReply(null, unreadable());
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function unreadable(): Refusal {
  return new Refusal(
    400,
    'malformed_request',
    'The request could not be read as HTTP. Percent-encode its path, and send well-formed headers and a correct Content-Length.',
  );
}

/** What a failure is to the caller. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreUnavailableError) {
    return new Refusal(
      503,
      'unavailable',
      'The service cannot reach its store at the moment. Send the request again after the seconds that Retry-After names.',
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
    case 414:
      return unreadable();
    default:
      return new Refusal(
        500,
        'internal_error',
        'The service failed to answer this request. Send it again later, and tell the provider this requestID if it keeps failing.',
      );
  }
}

async function answer(parts: ApplicationParts, request: FastifyRequest, reply: FastifyReply, refusal: Refusal): Promise<FastifyReply> {
  const { caller, id, routeOptions } = request;
  const shownId = routeOptions.config.api?.withoutRequestId ? null : id;
  if (!caller) return send(reply, refusalReply(shownId, refusal));
  const now = parts.ports.clock.now();
  const refusable: Refusable = {
    refuse: (refused) => refusalReply(shownId, refused),
    logEntry: (replied, errorType) => logEntry({ request, caller, now, requestBody: '{}' }, replied, errorType),
  };
  try {
    return send(reply, await refuse(parts, refusable, refusal));
  } catch (error) {
    // The store that cannot keep the log entry is the answer then.
    if (refusal.status !== 503) request.log.error({ err: error }, 'request log not written');
    return send(reply, refusalReply(shownId, refusalOf(error)));
  }
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
