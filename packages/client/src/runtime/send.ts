/** One attempt of a request, with its timeout. */
import type { Fetch } from './options.ts';

/** A request as it is sent. */
export interface WireRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
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
  /** The status, when the response broke off within its body. */
  readonly status?: number;
  readonly cause: unknown;
}

/** The longest delay that a timer can hold. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Sends a request once and reads its response. Never throws. */
export async function sendOnce(
  request: WireRequest,
  { fetch, timeoutMs, signal }: { readonly fetch: Fetch; readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<Attempt> {
  const { url, ...init } = request;
  if (signal?.aborted) return { kind: 'aborted', left: false, cause: signal.reason };
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), Math.min(timeoutMs, MAX_TIMER_MS));
  let status: number | undefined;
  try {
    const response = await fetch(url, {
      ...init,
      // A redirect is never followed, so that the API key stays with its server.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    });
    status = response.status;
    const { statusText, headers } = response;
    return { kind: 'received', status, statusText, headers, text: await response.text() };
  } catch (cause) {
    const kind = signal?.aborted ? 'aborted' : timeout.signal.aborted ? 'timeout' : 'disconnected';
    const left = kind !== 'disconnected' || status !== undefined || !wasNeverConnected(cause);
    return { kind, left, cause, ...(status !== undefined && { status }) };
  } finally {
    clearTimeout(timer);
  }
}

/** The innermost cause, because `fetch` wraps the error of the system. */
export function rootCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootCause(error.cause) : error;
}

/** Error codes and words of Node, Bun and Deno. Without one of them, the request may have been sent. */
const NEVER_CONNECTED = /^\w*(refused|notfound|eai_again|connect_timeout)$|\(connect\)/i;

function wasNeverConnected(error: unknown): boolean {
  const root = rootCause(error);
  if (!(root instanceof Error)) return false;
  const { code, message }: { code?: unknown; message: string } = root;
  return NEVER_CONNECTED.test(typeof code === 'string' ? code : message);
}
