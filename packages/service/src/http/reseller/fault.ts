/** The faults that an operator of a sandbox can inject into the reseller API. */
import { setTimeout as wait } from 'node:timers/promises';

import type { FaultEffectInput } from '@reseller/operator-client';
import type { FastifyReply } from 'fastify';

import type { ErrorContent } from '../../reseller/codec.ts';
import type { Kinds } from '../../rules/refusal.ts';

/** The first `type` that the document lists for each status. */
const DEFAULT_TYPES: Readonly<Partial<Kinds>> = {
  400: 'malformed_request',
  401: 'unauthorized',
  402: 'credit_limit_exceeded',
  403: 'account_suspended',
  404: 'not_found',
  409: 'wrong_state',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'validation_failed',
  429: 'rate_limited',
  500: 'internal_error',
  503: 'unavailable',
};

const MESSAGE = 'A sandbox fault replaced the response. The request was not carried out.';

/** The error that replaces the effect of a request, or undefined if the fault lets the request through. */
export function faultError(effect: FaultEffectInput): ErrorContent | undefined {
  if (effect.kind !== 'error' && effect.kind !== 'rate_limit') return undefined;
  const status = effect.kind === 'error' ? effect.status : 429;
  const type = (effect.kind === 'error' ? effect.type : undefined) ?? DEFAULT_TYPES[status] ?? 'internal_error';
  return {
    status,
    type,
    message: MESSAGE,
    // The document requires a 422 to name the broken rules.
    fields: status === 422 ? [{ field: '', rule: 'fault', message: MESSAGE }] : null,
    ...(effect.kind === 'rate_limit' ? { retryAfter: effect.retry_after_seconds } : {}),
  };
}

/** Closes the connection without a response. */
export function cutConnection(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.socket?.destroy();
  return reply;
}

/** Delays a response if the fault is a delay. */
export async function delay(effect: FaultEffectInput): Promise<void> {
  if (effect.kind === 'delay') await wait(effect.milliseconds);
}
