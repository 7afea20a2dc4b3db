/** A server, its address, and the facts that its responses have shown. */
import { systemClock } from './clock.ts';
import type { ClientConfig, Clock, Fetch } from './options.ts';
import { ownFetch, unrepeatable } from './unrepeatable.ts';
import type { Asked, Received, Verdict } from './wire.ts';

export interface Connection {
  /** Base address without a trailing slash. */
  readonly base: string;
  /** Headers that authenticate. A function, so that they do not show where a client is printed. */
  readonly credentials: () => Readonly<Record<string, string>>;
  /** Names of the headers that an option of the client or the call sets, in lower case. */
  readonly reserved: readonly string[];
  /** Reads the meaning of a response. */
  readonly classify: (received: Received, request: Asked) => Verdict;
  /** A sentence for `OutcomeUnknownError`. */
  readonly adviceWhenLost: string;
  /** `fetch`, wrapped in the middleware. */
  readonly fetch: Fetch;
  /** The attempts in progress, by their signals. */
  readonly attempts: Map<AbortSignal, Attempt>;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly maxRetries: number;
  readonly headers: Headers;
  readonly keys: KeySupport;
}

export interface Attempt {
  /** Its idempotency key. */
  readonly key: string | null;
  /** Whether it must not take effect twice. */
  readonly isOnce: boolean;
  /** How many requests the middleware passed on to `fetch`. */
  passedOn: number;
}

/** The particulars of the API of a connection. */
export type Api = Pick<Connection, 'credentials' | 'classify' | 'adviceWhenLost'> & { readonly userAgent: string };

/** The facts that are known about the server's idempotency keys. Clients of the same server may share it. */
export interface KeySupport {
  honoured: boolean | undefined;
  /** How long the server keeps a key. */
  lifetimeMs: number;
}

/** For servers that honour keys and do not say for how long they keep them. */
const DEFAULT_KEY_LIFETIME_MS = 3_600_000;

/** @throws TypeError when the configuration cannot be used. */
export function connect(config: Omit<ClientConfig, 'apiKey'>, { userAgent, ...api }: Api, keys?: KeySupport): Connection {
  const { middleware = [], fetch: sendRequest = fetch, timeoutMs = 30_000, deadlineMs = Infinity, maxRetries = 2 } = config;
  const attempts: Connection['attempts'] = new Map();
  const counted: Fetch = (url, init) => {
    const isOnce = countIn(attempts, init);
    return sendRequest(url, isOnce && sendRequest === ownFetch ? unrepeatable(init) : init);
  };
  const headers = new Headers({ 'user-agent': userAgent });
  const given = new Headers(config.headers);
  const reserved = reservedHeaders(api.credentials());
  assertNotReserved(given, [...reserved, 'content-type']);
  given.forEach((value, name) => headers.set(name, value));
  return {
    base: readBaseUrl(config.baseUrl),
    ...api,
    reserved,
    fetch: middleware.reduceRight((next, wrap) => wrap(next), counted),
    attempts,
    clock: config.clock ?? systemClock,
    timeoutMs,
    deadlineMs,
    maxRetries,
    headers,
    keys: keys ?? { honoured: config.honoursIdempotencyKey, lifetimeMs: DEFAULT_KEY_LIFETIME_MS },
  };
}

/** The credentials and the idempotency key have options of their own. With a header as well, an error could name another key than was sent. */
function reservedHeaders(credentials: Readonly<Record<string, string>>): readonly string[] {
  return [...Object.keys(credentials), 'idempotency-key'].map((name) => name.toLowerCase());
}

/** @throws TypeError when a header has an option. */
export function assertNotReserved(headers: Headers, reserved: readonly string[]): void {
  const name = reserved.find((one) => headers.has(one));
  if (name === undefined) return;
  const instead = name === 'idempotency-key' ? 'Pass the option idempotencyKey of the call' : 'The client sets it by its own options';
  throw new TypeError(`The headers must not contain ${name}. ${instead}.`);
}

/**
 * Counts a request that the middleware passes on. With another key, or without one, it could take effect twice.
 *
 * @returns Whether it must not take effect twice.
 * @throws TypeError when the middleware changed the key.
 */
function countIn(attempts: Connection['attempts'], { headers, signal }: RequestInit): boolean {
  const key = new Headers(headers).get('idempotency-key');
  const own = signal && attempts.get(signal);
  // A middleware may set a signal of its own. Then the request may be that of any attempt.
  const possible = (own ? [own] : [...attempts.values()]).filter((attempt) => attempt.key === key);
  if (possible.length === 0) throw new TypeError('A middleware must not change the Idempotency-Key. Use the option idempotencyKey');
  for (const attempt of possible) attempt.passedOn++;
  return possible.some(({ isOnce }) => isOnce);
}

/** Learns from a response whether the server honours keys. A setting of the caller is kept. */
export function learnKeySupport(keys: KeySupport, headers: Headers): void {
  const lifetime = headers.get('idempotency-key-lifetime');
  if (lifetime === null) return;
  keys.honoured ??= true;
  if (Number(lifetime) > 0) keys.lifetimeMs = Number(lifetime) * 1000;
}

/** Whether the server still keeps a key of an age in milliseconds at the end of a further attempt. */
export function isKeyKept({ lifetimeMs }: KeySupport, ageMs: number, timeoutMs: number): boolean {
  return ageMs + timeoutMs < lifetimeMs;
}

/** @throws TypeError when the value cannot be a header. `option` and `variable` are where it comes from. */
export function checkCredential(value: unknown, option: string, variable: string): asserts value is string {
  if (value === undefined || value === null || value === '') {
    throw new TypeError(`The ${option} is not set. Pass it, or set the environment variable ${variable}.`);
  }
  // The message must not show it: a key with a line break at its end is still a key.
  if (typeof value !== 'string' || !/^[!-~]+$/.test(value))
    throw new TypeError(`The ${option} must be visible ASCII characters without spaces.`);
}

function readBaseUrl(baseUrl: unknown): string {
  const [, base] = /^(https?:\/\/[^?#']*[^?#'/])\/*$/.exec(String(baseUrl)) ?? [];
  if (base === undefined) throw new TypeError(`The baseUrl must be an http or https address without a query, got ${String(baseUrl)}.`);
  return base;
}
