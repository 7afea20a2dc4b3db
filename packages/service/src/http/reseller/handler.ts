import type { FaultEffectInput } from '@reseller/operator-client';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { IDEMPOTENCY_KEY_LIFETIME_SECONDS } from '../../generated/facts.gen.ts';
import type { LoggedRequest, Reply } from '../../reseller/codec.ts';
import { apiKeyHeader } from '../../reseller/document.ts';
import { maskByName } from '../../reseller/masking.ts';
import type { OperationId } from '../../reseller/operation.ts';
import { logReply, perform } from '../../reseller/perform.ts';
import { operations } from '../../reseller/table.ts';
import { Refusal } from '../../rules/refusal.ts';
import { clientAddressOf } from '../shared/client-address.ts';
import type { HttpContext } from '../shared/context.ts';
import { sendText } from '../shared/server.ts';
import type { ApiOperation } from './api.ts';
import type { Caller } from './authenticate.ts';
import { cutConnection, delay, faultError } from './fault.ts';
import { assertPermitted, formOf, assertForm, assertPath, assertQuery, fingerprintOf, idempotencyKeyOf } from './request.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The account that sends the request, or null before authentication. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    /** The operation of the reseller API that the route carries out. */
    api?: ApiOperation;
  }
}

/** Default of Retry-After in seconds. */
const DEFAULT_RETRY_AFTER_SECONDS = 2;

/** Content type of the envelope. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The members of a Fastify route besides its method and URL. */
export interface ResellerRoute {
  readonly config: { readonly api: ApiOperation };
  onRequest(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  handler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

export function resellerRoute<Id extends OperationId>(api: ApiOperation<Id>, context: HttpContext): ResellerRoute {
  const { assertClockRight, authenticate, controls, keyUse } = context;
  return {
    config: { api },
    async onRequest(request, reply) {
      await assertClockRight();
      request.caller = await authenticate(apiKeyOf(request), clientAddressOf(request));
      keyUse.note(request.caller.keyId);
      await controls.countRequest(request.caller, reply);
    },
    async handler(request, reply) {
      const { caller } = request;
      if (!caller) throw new Error('A route was reached without authentication.');
      const fault = await controls.takeFault({ operation: api.id, keyId: caller.keyId });
      if (fault?.kind === 'cut_before_commit') return cutConnection(reply);
      const response = await respond(api, context, { request, reply }, { caller, fault });
      if (fault?.kind === 'cut_after_commit') return cutConnection(reply);
      if (fault) await delay(fault);
      return send(reply, response);
    },
  };
}

async function respond<Id extends OperationId>(
  api: ApiOperation<Id>,
  { runtime }: HttpContext,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { caller, fault }: { caller: Caller; fault: FaultEffectInput | undefined },
): Promise<Reply> {
  const codec = caller.readsSecrets ? api.codec : api.maskingCodec;
  const { id, method } = request;
  const { accountId, keyId, spender, maskKey } = caller;
  const now = runtime.ports.clock.now();
  const body = formOf(api.operation, request.body);
  const logged: LoggedRequest = {
    id,
    accountId,
    now,
    method,
    path: pathOf(request.originalUrl),
    form: JSON.stringify(maskByName(api.maskForm(body.sent))),
    maskKey,
    ...logFactsOf(request, reply, caller),
  };
  const error = fault && faultError(fault);
  if (error) return logReply(runtime.store, logged, codec.error(id, error));
  try {
    assertPermitted(api, caller);
    const { params: path } = request;
    const { values: form } = body;
    assertPath<Id>(path);
    assertQuery(api, request.query, maskKey);
    assertForm<Id>(api, form, body, maskKey);
    const key = idempotencyKeyOf(api, request.headers['idempotency-key']);
    return await perform(operations[api.id], {
      operationId: api.id,
      call: { runtime, accountId, keyId, spender, now, form, path },
      repeatable:
        key === undefined
          ? undefined
          : {
              accountId,
              secrets: runtime,
              key,
              fingerprint: fingerprintOf(method, pathOf(request.url), body.values),
              random: runtime.ports.random,
            },
      logged,
      codec,
    });
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return logReply(runtime.store, logged, codec.error(id, refusal, maskKey));
  }
}

/** What the request log shows of a request besides its path and form. */
export function logFactsOf({ headers }: FastifyRequest, reply: FastifyReply, { keyId }: Caller) {
  const key = headers['idempotency-key'];
  return { keyId, idempotencyKey: typeof key === 'string' ? key : key?.join(', '), elapsed: () => reply.elapsedTime };
}

export function apiKeyOf({ headers }: FastifyRequest): string | string[] | undefined {
  return headers[apiKeyHeader.toLowerCase()];
}

/** The path of a URL, without the query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** Sends a reply of the reseller API. */
export function send(reply: FastifyReply, { status, body, retryAfter }: Reply): FastifyReply {
  // Clients learn from this header that the service supports Idempotency-Key.
  reply.header('idempotency-key-lifetime', String(IDEMPOTENCY_KEY_LIFETIME_SECONDS));
  const seconds = retryAfter ?? (status === 503 || status === 429 ? DEFAULT_RETRY_AFTER_SECONDS : undefined);
  if (seconds !== undefined) reply.header('retry-after', String(seconds));
  return sendText(reply.code(status).type(JSON_TYPE), body);
}
