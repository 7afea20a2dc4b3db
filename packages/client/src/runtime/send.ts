/** One attempt of a request, with its timeout. */
import { systemClock } from './clock.ts';
import type { Connection } from './connection.ts';

/** A request as it is sent. */
export interface WireRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
  /** Whether it must not take effect twice. */
  readonly once?: boolean | undefined;
}

/** The result of one attempt. */
export type Attempt = Received | NoResponse;

/** A whole response. */
export interface Received {
  readonly kind: 'received';
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly text: string;
}

/** No whole response. */
export interface NoResponse {
  readonly kind: 'aborted' | 'timeout' | 'disconnected';
  /** False when the request certainly did not leave this machine. */
  readonly left: boolean;
  /** The status and headers, when the response broke off within its body. */
  readonly status?: number;
  readonly headers?: Headers;
  readonly cause: unknown;
}

/** Sends a request once and reads its response. Never throws. */
export async function sendOnce(
  { fetch, passedOn, clock }: Pick<Connection, 'fetch' | 'passedOn' | 'clock'>,
  { url, once, ...init }: WireRequest,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Attempt> {
  if (signal?.aborted) return { kind: 'aborted', left: false, cause: signal.reason };
  const before = passedOn();
  const timeout = new AbortController();
  function abort() {
    timeout.abort();
  }
  const cancel = clock.setTimer?.(timeoutMs, abort) ?? systemClock.setTimer(timeoutMs, abort);
  let response: Response | undefined;
  try {
    response = await fetch(url, {
      ...init,
      // A redirect is never followed, so that the API key stays with its server.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
      ...(once && freshConnection()),
    });
    const { status, statusText, headers } = response;
    return { kind: 'received', status, statusText, headers, text: await response.text() };
  } catch (cause) {
    const kind = signal?.aborted ? 'aborted' : timeout.signal.aborted ? 'timeout' : 'disconnected';
    const left = response !== undefined || (passedOn() !== before && !(kind === 'disconnected' && neverConnected(cause)));
    return { kind, left, cause, ...(response && { status: response.status, headers: response.headers }) };
  } finally {
    cancel();
  }
}

let denoClient: unknown;

/**
 * Options of `fetch` for a new connection. Bun and Deno send a request again, below `fetch`, if a connection that was kept open closes.
 * Bun does not reuse a connection without `keepalive`, and Deno needs a client that keeps none.
 */
function freshConnection(): object {
  const deno: { createHttpClient?: (options: object) => unknown } | undefined = Reflect.get(globalThis, 'Deno');
  denoClient ??= deno?.createHttpClient?.({ poolMaxIdlePerHost: 0 });
  return { keepalive: false, ...(denoClient !== undefined && { client: denoClient }) };
}

/** The innermost cause, because `fetch` wraps the error of the system. */
export function rootCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootCause(error.cause) : error;
}

/** Parts of the codes of Node, Bun and Deno for a connection or a TLS session that was not made. Without one of them, the request may have been sent. */
const NEVER_CONNECTED =
  /(refused|notfound|eai_again|connect_timeout|failedtoopensocket|_cert|unsupported_protocol|protocol_version)$|(cert|verify_leaf|wrong_version)_/i;

function neverConnected(error: unknown): boolean {
  const root = rootCause(error);
  if (!(root instanceof Error)) return false;
  if (root instanceof AggregateError && root.errors.length > 0) return root.errors.every(neverConnected);
  const { code, syscall, message }: { code?: unknown; syscall?: unknown; message: string } = root;
  const text = String(code ?? message);
  // A message has spaces, and a code has none.
  return syscall === 'connect' || (/ /.test(text) ? /\(connect\)/i : NEVER_CONNECTED).test(text);
}
