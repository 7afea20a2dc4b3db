/** One attempt of a request, with its timeout. */
import { systemClock } from './clock.ts';
import type { Connection } from './connection.ts';
import { AbortedError, ConnectionError, ResponseError, TimeoutError } from './errors.ts';
import { isRecord } from './json.ts';
import type { Failure, Received, WireRequest } from './wire.ts';

/** Sends a request once and reads its response. Never throws. */
export async function sendOnce(
  { fetch, attempts, clock }: Pick<Connection, 'fetch' | 'attempts' | 'clock'>,
  { url, once, ...init }: WireRequest,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Received | Failure> {
  const timeout = new AbortController();
  function abort() {
    timeout.abort();
  }
  const ending = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal;
  const cancel = clock.setTimer?.(timeoutMs, abort) ?? systemClock.setTimer(timeoutMs, abort);
  const attempt = { key: init.headers.get('idempotency-key'), isOnce: once === true, passedOn: 0 };
  attempts.set(ending, attempt);
  let response: Response | undefined;
  let head: Omit<Received, 'text'> | undefined;
  try {
    signal?.throwIfAborted();
    response = await fetch(url, {
      ...init,
      // A middleware may change them, and the next attempt begins with those of the call.
      headers: new Headers(init.headers),
      // A redirect is never followed, so that the API key stays with its server.
      redirect: 'manual',
      signal: ending,
      ...(once && freshConnection()),
    });
    // A `fetch` of a test may return the headers as an object.
    head = { status: response.status, statusText: response.statusText, headers: new Headers(response.headers) };
    return { ...head, text: await response.text() };
  } catch (cause) {
    const { status, headers } = head ?? {};
    const isSent = response !== undefined || attempt.passedOn > 0;
    const failure = { notCarriedOut: isSent ? undefined : 'attempt', transient: true, details: { status, headers }, cause } as const;
    if (signal?.aborted) return { ...failure, transient: false, Class: AbortedError, message: 'the signal aborted the call' };
    if (timeout.signal.aborted)
      return { ...failure, Class: TimeoutError, message: `no complete response within ${Math.round(timeoutMs)} ms` };
    const why = thrownText(rootCause(cause));
    if (response)
      return { ...failure, Class: ResponseError, message: `the response broke off: ${why}`, details: { status, headers, reason: 'cut' } };
    // A middleware may have sent it before the attempt that did not connect.
    const isUnsent = attempt.passedOn <= 1 && neverConnected(cause);
    return { ...failure, Class: ConnectionError, message: `no response: ${why}`, ...(isUnsent && { notCarriedOut: 'attempt' }) };
  } finally {
    attempts.delete(ending);
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

/**
 * The innermost cause, because `fetch` wraps the error of the system. Errors of another realm, as in Jest, are not instances of this `Error`.
 */
function rootCause(error: unknown): unknown {
  const seen = new Set([error]);
  for (let root = error; ;) {
    const cause: unknown = isRecord(root) ? root['cause'] : undefined;
    // An error can be its own cause.
    if (cause === undefined || seen.has(cause)) return root;
    seen.add(cause);
    root = cause;
  }
}

/** The text of whatever was thrown, also of an object that has none. */
function thrownText(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return Object.prototype.toString.call(thrown);
  }
}

/** Codes of Node, Bun and Deno for a connection or a TLS session that was not made. Without one of them, the request may have been sent. */
const CODES =
  /(refused|notfound|proxy_tunnel|eai_again|connect_timeout|failedtoopensocket|_cert|unsupported_protocol|protocol_version)$|(cert|verify_leaf|wrong_version)_/i;
/** Messages for the same, where there is no code, or where it may be that of a connection that broke later. */
const MESSAGES = /Unable to connect\.|typo in the url|\(connect\)|bad port|HTTP Tunneling|Requires net access/i;

function neverConnected(error: unknown): boolean {
  const root = rootCause(error);
  if (!isRecord(root)) return false;
  const { code, syscall, message, errors } = root;
  if (Array.isArray(errors) && errors.length > 0) return errors.every(neverConnected);
  return syscall === 'connect' || CODES.test(String(code)) || MESSAGES.test(String(message));
}
