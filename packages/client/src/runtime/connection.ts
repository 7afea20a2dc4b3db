/** A server, how to reach it, and what its responses told about it. */
import type { ClientConfig, Clock, Fetch } from './options.ts';
import { sleep } from './sleep.ts';

export interface Connection {
  /** Base address without a trailing slash. */
  readonly base: string;
  /** A function, so that the key does not show where a client is printed. */
  readonly apiKey: () => string;
  /** With the middleware around it. */
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly showPersonalData: boolean;
  readonly keys: KeySupport;
}

/** What is known about the server's idempotency keys. Clients of the same server may share it. */
export interface KeySupport {
  honoured: boolean | undefined;
  /** How long the server keeps a key. */
  lifetimeMs: number;
}

/** For servers that honour keys and do not say for how long they keep them. */
const DEFAULT_KEY_LIFETIME_MS = 3_600_000;

/** @throws TypeError when the configuration cannot be used. */
export function connect(config: ClientConfig, userAgent: string, keys?: KeySupport): Connection {
  const { apiKey, baseUrl, middleware = [], headers = {}, timeoutMs = 30_000, maxRetries = 2, appInfo } = config;
  checkKey(apiKey);
  const app = appInfo && ` ${appInfo.name}/${appInfo.version}${appInfo.url === undefined ? '' : ` (${appInfo.url})`}`;
  return {
    base: readBaseUrl(baseUrl),
    apiKey: () => apiKey,
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

function checkKey(apiKey: unknown): void {
  if (apiKey === undefined || apiKey === null || apiKey === '') {
    throw new TypeError('The apiKey is not set. Is the environment variable that it comes from set?');
  }
  // The message must not show it: a key with a line break at its end is still a key.
  if (typeof apiKey !== 'string' || !/^[!-~]+$/.test(apiKey)) {
    throw new TypeError('The apiKey must be visible ASCII characters without spaces. Was it copied whole, without a line break?');
  }
}

function readBaseUrl(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string' || baseUrl === '')
    throw new TypeError('The baseUrl is not set. Pass one such as https://api.example.com.');
  const [, base] = /^(https?:\/\/[^?#']+?)\/*$/.exec(baseUrl) ?? [];
  if (base === undefined) throw new TypeError(`The baseUrl '${baseUrl}' is not an http or https address without a query.`);
  return base;
}
