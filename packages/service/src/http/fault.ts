/** Faults of the reseller API, as the operator has asked for them. */
import { setTimeout as wait } from 'node:timers/promises';

import type { FaultEffectInput } from '@reseller/operator-client';
import type { FastifyReply } from 'fastify';

import type { Refusable, Reply } from '../reseller/perform.ts';
import type { Store } from '../store/store.ts';

/** Types that the document lists for a status, the first of each. */
const types: Readonly<Record<number, string>> = {
  400: 'malformed_request',
  401: 'unauthorized',
  402: 'credit_limit_exceeded',
  404: 'not_found',
  409: 'wrong_state',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'validation_failed',
  429: 'rate_limited',
  500: 'internal_error',
  503: 'unavailable',
};

const MESSAGE = 'A fault of the sandbox answers this request; it was not carried out.';

/** What is answered in place of carrying the request out; undefined where it is carried out. */
export function faultReply(effect: FaultEffectInput, requestID: string | null): { reply: Reply; errorType: string } | undefined {
  if (effect.kind !== 'error' && effect.kind !== 'rate_limit') return undefined;
  const status = effect.kind === 'error' ? effect.status : 429;
  const errorType = (effect.kind === 'error' ? effect.type : undefined) ?? types[status] ?? 'internal_error';
  // The document wants the broken rules of a 422 to be named.
  const data = status === 422 ? { fields: [{ field: '', rule: 'fault', message: MESSAGE }] } : null;
  const body = JSON.stringify({ status: 'error', type: errorType, requestID, message: MESSAGE, data });
  const retryAfter = effect.kind === 'rate_limit' ? { retryAfter: effect.retry_after_seconds } : {};
  return { errorType, reply: { status, body, loggedBody: body, ...retryAfter } };
}

/** Logs what a fault answers. */
export function logFault(
  store: Store,
  { logEntry }: Pick<Refusable, 'logEntry'>,
  { reply, errorType }: { reply: Reply; errorType: string },
) {
  return store.commit(async ({ log }) => {
    log(logEntry(reply, errorType));
    return reply;
  });
}

/** Cuts the connection: no answer leaves. */
export function cut(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.socket?.destroy();
  return reply;
}

/** Holds an answer back where the fault is a delay. */
export async function delay(effect: FaultEffectInput | undefined): Promise<void> {
  if (effect?.kind === 'delay') await wait(effect.milliseconds);
}
