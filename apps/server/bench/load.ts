/** Load on a service. */
import autocannon from 'autocannon';

import type { StartedService } from './processes.ts';

export const CONNECTIONS = 64;
export const FORM = 'cores=1&mem=1024&disk=10&os=debian_12&hostsystem=nl_ryzen';

export interface Load {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly body?: string;
}

export const READ: Load = { method: 'GET', path: '/vm/list/hosts' };
export const PURCHASE: Load = { method: 'PUT', path: '/vm/create', body: FORM };

export interface LoadFigures {
  readonly perSecond: number;
  readonly p99Ms: number;
}

export interface LoadOptions {
  readonly connections?: number;
  /** Requests per second. Without it, as many as the service responds to. */
  readonly rate?: number;
}

/** Loads a service over connections. The requests of each take turns between the accounts. */
export async function load(
  { baseUrl, apiKeys }: Pick<StartedService, 'baseUrl' | 'apiKeys'>,
  { method, path, body }: Load,
  seconds: number,
  { connections = CONNECTIONS, rate }: LoadOptions = {},
): Promise<LoadFigures> {
  const keys = apiKeys.length === 0 ? [''] : apiKeys;
  const result = await autocannon({
    url: baseUrl,
    connections,
    duration: seconds,
    ...(rate === undefined ? {} : { overallRate: rate }),
    requests: keys.map((key) => ({
      method,
      path,
      headers: headersOf(key),
      ...(body === undefined ? {} : { body }),
    })),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${method} ${path}: ${result.non2xx} responses were refusals, ${result.errors} requests failed.`);
  return { perSecond: result.requests.average, p99Ms: result.latency.p99 };
}

export function headersOf(apiKey: string): Record<string, string> {
  return { 'x-service-apikey': apiKey, 'content-type': 'application/x-www-form-urlencoded' };
}

/** Sends one request and returns the text of its response. */
export async function send(
  { baseUrl, apiKeys: [apiKey = ''] }: Pick<StartedService, 'baseUrl' | 'apiKeys'>,
  { method, path, body }: Load,
): Promise<string> {
  const response = await fetch(baseUrl + path, { method, headers: headersOf(apiKey), ...(body === undefined ? {} : { body }) });
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
  return response.text();
}
