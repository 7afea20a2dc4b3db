import { setTimeout as sleep } from 'node:timers/promises';

import { mediaTypeName } from '../document/media-type.ts';
import type { SecurityKey } from '../document/operation.ts';
import { readExchange } from '../exchange/exchange.ts';
import type { Exchange, Credential, SentRequest } from '../exchange/exchange.ts';
import { isError } from '../is-error.ts';
import { closedConnection, isLate } from './connection-errors.ts';
import type { Credentials } from './credentials.ts';
import { RefusedRequestError } from './guard.ts';
import type { Send } from './guard.ts';
import { buildRequest } from './request.ts';
import type { RequestParts } from './request.ts';
import type { Step } from './step.ts';

/** Sends requests to one target. */
export interface Transport {
  readonly target: URL;
  readonly send: Send;
  readonly keyOf: (credential: Credential, key: SecurityKey) => string | undefined;
  /** Gets a new token for a scheme if that is needed; see `Credentials`. */
  readonly renew?: Credentials['renew'];
  /** Timeout of a request in milliseconds. */
  readonly timeout: number;
  /** Headers that every request has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Resolves when the next request may be sent. */
  readonly pace: () => Promise<void>;
}

/** There was no response to a request, or the guard refused it. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';

  /** Whether the request reached the service: it was late, or closed the connection. Then something listens there. */
  get isReached(): boolean {
    return isLate(this.cause) || closedConnection(this.cause);
  }
}

/** The longest wait in seconds before the retry after a 429. */
const MAX_WAIT_S = 30;

/** The values that a step takes from earlier responses. */
export type StepValues = Pick<RequestParts, 'path' | 'body' | 'query' | 'conditions'>;

/**
 * Sends one request of a step and parses its response. The caller waits for `pace` before, so that it records a change just before it is sent.
 * @throws {NoResponseError} when there is no response
 */
export async function sendRequest(transport: Transport, step: Step, { path, body, query, conditions }: StepValues): Promise<Exchange> {
  const { target, keyOf, headers, renew } = transport;
  const keys = step.credential === 'account' ? (step.operation.security?.keys ?? []) : [];
  function build(): Request {
    const signal = AbortSignal.timeout(transport.timeout);
    return buildRequest({ target, step, path, body, query, conditions, headers, keyFor: (key) => keyOf(step.credential, key), signal });
  }
  for (const key of keys) await renew?.(key, false);
  const request = build();
  const sent: SentRequest = {
    method: step.method,
    url: request.url,
    headers: Object.fromEntries(request.headers),
    body,
    credential: step.credential,
    purpose: step.purpose,
    detail: step.detail,
    isMadeUp: step.form?.isFromDocument === false,
    at: new Date().toISOString(),
  };
  const first = await onceOrClosed(transport, step, build, sent);
  if (first.status === 401)
    for (const key of keys) if ((await renew?.(key, true)) === true) return again(transport, step, build(), { sent, first });
  // Only requests with the account's key are retried. For other requests, 429 is a valid result.
  if (first.status !== 429 || step.credential !== 'account' || step.times < 1) return first;
  const wait = secondsUntilRetry(first.headers) ?? 1;
  // A longer wait would let the run look stuck. The command names the time that the service asks for.
  if (wait > MAX_WAIT_S) return first;
  await sleep(wait * 1_000);
  return again(transport, step, build(), { sent, first });
}

/** The seconds that a response asks to wait, as a number or as a date; undefined when it does not. */
export function secondsUntilRetry(headers: Exchange['headers']): number | undefined {
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

/** Sends a request once more. When the guard refuses that, the first response counts. */
async function again(
  transport: Transport,
  step: Step,
  request: Request,
  { sent, first }: { readonly sent: SentRequest; readonly first: Exchange },
): Promise<Exchange> {
  try {
    await transport.pace();
    return await once(transport, step, request, { ...sent, headers: Object.fromEntries(request.headers), url: request.url });
  } catch (error) {
    if (error instanceof NoResponseError && error.cause instanceof RefusedRequestError) return first;
    throw error;
  }
}

const CLOSED = 'the service closed the connection';

/**
 * Sends a request whose connection may close in place of a response. A read is sent once more, because a connection that was kept open may close
 * at any time. A change may have taken place.
 */
async function onceOrClosed(transport: Transport, step: Step, build: () => Request, sent: SentRequest): Promise<Exchange> {
  const most = step.effect === 'reads' ? 2 : 1;
  for (let tries = 1; ; tries++) {
    try {
      return await once(transport, step, build(), sent);
    } catch (error) {
      const isRefusedAgain = tries > 1 && error instanceof NoResponseError && error.cause instanceof RefusedRequestError;
      if (!isRefusedAgain && !(error instanceof NoResponseError && closedConnection(error.cause))) throw error;
      if (tries === most)
        return readExchange(step.operation, sent, { status: 0, headers: {}, bytes: new Uint8Array(), cut: CLOSED, milliseconds: 0 });
    }
  }
}

async function once({ send }: Transport, step: Step, request: Request, sent: SentRequest): Promise<Exchange> {
  const begun = performance.now();
  try {
    const response = await send(request);
    const headers = Object.fromEntries(response.headers);
    const { bytes, cut } = isStream(headers) ? await closed(response) : await readBytes(response);
    return readExchange(step.operation, sent, { status: response.status, headers, bytes, cut, milliseconds: performance.now() - begun });
  } catch (error) {
    throw new NoResponseError(reasonOf(error), { cause: error });
  }
}

/** Whether a response goes on for as long as its client listens. It is judged by its head. */
function isStream(headers: Readonly<Record<string, string>>): boolean {
  return mediaTypeName(headers['content-type'] ?? '') === 'text/event-stream';
}

async function closed(response: Response): Promise<{ readonly bytes: Uint8Array; readonly cut: undefined }> {
  await response.body?.cancel();
  return { bytes: new Uint8Array(), cut: undefined };
}

/** The bytes of a response, or the reason why its connection closed early. A timeout is an error instead. */
async function readBytes(response: Response): Promise<{ readonly bytes: Uint8Array; readonly cut: string | undefined }> {
  try {
    return { bytes: new Uint8Array(await response.arrayBuffer()), cut: undefined };
  } catch (error) {
    if (isError(error) && error.name === 'TimeoutError') throw error;
    return { bytes: new Uint8Array(), cut: reasonOf(error) };
  }
}

/** The message of the innermost cause, because `fetch` reports only "fetch failed". */
function reasonOf(error: unknown): string {
  if (!isError(error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return error.message === '' ? code : error.message;
}

/** Limits the number of requests per second; undefined for no limit. */
export function paceOf(perSecond: number | undefined): () => Promise<void> {
  if (perSecond === undefined) return async () => {};
  let next = performance.now();
  return async () => {
    const now = performance.now();
    const wait = next - now;
    next = Math.max(next, now) + 1_000 / perSecond;
    if (wait > 0) await sleep(wait);
  };
}
