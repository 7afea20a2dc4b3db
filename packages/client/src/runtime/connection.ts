/** A server, its address, and the facts that its responses have shown. */
import type { Verdict } from './classify.ts';
import type { ClientConfig, Clock, Fetch } from './options.ts';
import type { Received } from './send.ts';
import { sleep } from './sleep.ts';

export interface Connection {
  /** Base address without a trailing slash. */
  readonly base: string;
  /** Headers that authenticate. A function, so that they do not show where a client is printed. */
  readonly credentials: () => Readonly<Record<string, string>>;
  /** Reads the meaning of a response. */
  readonly classify: (received: Received) => Verdict;
  /** A sentence for `OutcomeUnknownError`. */
  readonly adviceWhenLost: string;
  /** With the middleware around it. */
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly showPersonalData: boolean;
  readonly keys: KeySupport;
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
export function connect(config: Omit<ClientConfig, 'apiKey'>, api: Api, keys?: KeySupport): Connection {
  const { baseUrl, middleware = [], headers = {}, timeoutMs = 30_000, maxRetries = 2, appInfo } = config;
  const { userAgent, ...traits } = api;
  const app = appInfo && ` ${appInfo.name}/${appInfo.version}${appInfo.url === undefined ? '' : ` (${appInfo.url})`}`;
  return {
    base: readBaseUrl(baseUrl),
    ...traits,
    fetch: middleware.reduceRight((next, wrap) => wrap(next), config.fetch ?? fetch),
    clock: config.clock ?? { now: Date.now, sleep },
    timeoutMs,
    maxRetries,
    headers: { 'user-agent': userAgent + (app ?? ''), ...headers },
    showPersonalData: config.showPersonalData ?? false,
    keys: keys ?? { honoured: config.honoursIdempotencyKey, lifetimeMs: DEFAULT_KEY_LIFETIME_MS },
  };
}

/** Learns from a response whether the server honours keys. A setting of the caller is kept. */
export function learnKeySupport(keys: KeySupport, headers: Headers): void {
  const lifetime = headers.get('idempotency-key-lifetime');
  if (lifetime === null) return;
  keys.honoured ??= true;
  if (Number(lifetime) > 0) keys.lifetimeMs = Number(lifetime) * 1000;
}

/** @throws TypeError when the value cannot be a header. `name` is that of the option that it comes from. */
export function checkCredential(name: string, value: unknown): asserts value is string {
  if (value === undefined || value === null || value === '') {
    throw new TypeError(`The ${name} is not set. Is its environment variable set?`);
  }
  // The message must not show it: a key with a line break at its end is still a key.
  if (typeof value !== 'string' || !/^[!-~]+$/.test(value)) {
    throw new TypeError(`The ${name} must be visible ASCII characters without spaces. Was it copied whole?`);
  }
}

function readBaseUrl(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string' || baseUrl === '')
    throw new TypeError('The baseUrl is not set. Use one such as https://api.example.com.');
  const [, base] = /^(https?:\/\/[^?#']*[^?#'/])\/*$/.exec(baseUrl) ?? [];
  if (base === undefined) throw new TypeError(`The baseUrl '${baseUrl}' is not an http or https address without a query.`);
  return base;
}
