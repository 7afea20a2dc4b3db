/** One operation of the document as a route. */
import type { FaultEffectInput } from '@reseller/operator-client';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { IDEMPOTENCY_KEY_LIFETIME_SECONDS } from '../generated/facts.gen.ts';
import { perform, refuse } from '../reseller/perform.ts';
import type { Reply } from '../reseller/perform.ts';
import type { OperationId } from '../reseller/operation.ts';
import { Refusal } from '../rules/refusal.ts';
import type { ApiOperation } from './api.ts';
import type { ApplicationParts } from './application.ts';
import type { Caller } from './authenticate.ts';
import { refusalReply, success } from './envelope.ts';
import { cut, delay, faultReply, logFault } from './fault.ts';
import { presentedKey } from './lenient/deviation.ts';
import { logEntry, pathOf } from './log-entry.ts';
import { maskByName, maskingOf } from './masking.ts';
import { publicUrlFrom } from './invoice-document.ts';
import { assertForm, assertPath, assertQuery, fingerprintOf, idempotencyKeyOf, readBody } from './request.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling; null until the API key was found. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    /** The operation of the document that the route carries out. */
    api?: ApiOperation;
  }
}

/** Seconds after which trying again is worth it, where nothing else is known. */
const USUAL_WAIT = 2;

/** Content type of every answer in the envelope. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** What Fastify needs of a route besides its method and path. */
export interface Handling {
  readonly config: { readonly api: ApiOperation };
  onRequest(request: FastifyRequest): Promise<void>;
  handler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

export function handlingOf<Id extends OperationId>(api: ApiOperation<Id>, parts: ApplicationParts): Handling {
  return {
    config: { api },
    async onRequest(request) {
      request.caller = await parts.authenticate(presentedKey(request), request.ip);
      const limit = request.caller.rateLimit ?? (await parts.controls.rateLimit());
      if (limit) await parts.countRequest(request.caller.keyId, limit);
    },
    async handler(request, reply) {
      const { caller } = request;
      const fault = caller ? await parts.controls.takeFault({ operation: api.id, keyId: caller.keyId }) : undefined;
      if (fault?.kind === 'cut_before_commit') return cut(reply);
      const answered = await answer(api, parts, request, fault);
      if (fault?.kind === 'cut_after_commit') return cut(reply);
      await delay(fault);
      return send(reply, answered);
    },
  };
}

async function answer<Id extends OperationId>(
  api: ApiOperation<Id>,
  parts: ApplicationParts,
  request: FastifyRequest,
  fault: FaultEffectInput | undefined,
): Promise<Reply> {
  const { caller, id: requestId } = request;
  if (!caller) throw new Error('A route was reached without authentication.');
  const now = parts.ports.clock.now();
  const shownId = api.withoutRequestId ? null : requestId;
  const body = await readBody(api, request);
  const requestBody = JSON.stringify(maskByName(api.maskForm(body.sent)));
  const maskKey = maskingOf(caller.apiKey);
  const replying = {
    refuse: (refusal: Refusal) => refusalReply(shownId, refusal, maskKey),
    logEntry: (reply: Reply, errorType: string | null) => logEntry({ request, caller, now, requestBody, maskKey }, reply, errorType),
  };
  const faulty = fault && faultReply(fault, shownId);
  if (faulty) return logFault(parts.store, replying, faulty);
  try {
    const { params: path } = request;
    assertPath<Id>(path);
    assertQuery(api, request.query, caller.apiKey);
    const form = body.values;
    assertForm<Id>(api, form, body);
    const key = idempotencyKeyOf(api, request.headers['idempotency-key']);
    return await perform(parts, parts.table[api.id], {
      ...replying,
      operationId: api.id,
      requestId,
      call: {
        accountId: caller.accountId,
        form,
        path,
        now,
        ports: parts.ports,
        secret: parts.secret,
        vmIdentifiers: parts.vmIdentifiers,
        publicUrl: () => publicUrlFrom(parts, request.server),
      },
      repeatable:
        key === undefined
          ? undefined
          : {
              accountId: caller.accountId,
              apiKey: caller.apiKey,
              key,
              fingerprint: fingerprintOf(request.method, pathOf(request.url), body.values),
            },
      reply: ({ message, data }) => successReply(api, success(shownId, message, data)),
      replyAgain: (kept) => ({ status: 200, body: kept, loggedBody: JSON.stringify(api.maskAnswer(JSON.parse(kept))) }),
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse(parts, replying, error);
  }
}

function successReply(api: ApiOperation, envelope: ReturnType<typeof success>): Reply {
  const body = JSON.stringify(envelope);
  const masked = api.maskAnswer(envelope);
  return { status: 200, body, loggedBody: masked === envelope ? body : JSON.stringify(masked) };
}

/** Sends a reply; where it says to try again, it says when. */
export function send(reply: FastifyReply, { status, body, retryAfter }: Reply): FastifyReply {
  // With this, callers know that the service honours keys.
  reply.header('idempotency-key-lifetime', String(IDEMPOTENCY_KEY_LIFETIME_SECONDS));
  const seconds = retryAfter ?? (status === 503 || status === 429 ? USUAL_WAIT : undefined);
  if (seconds !== undefined) reply.header('retry-after', String(seconds));
  return reply.code(status).type(JSON_TYPE).send(body);
}
