/** Calls of the operator API of the running service, for commands on its machine. */
import { errorText } from '@reseller/contract/is-error';

import { UsageError } from './command-line.ts';
import type { Configuration } from './configuration.ts';
import { operatorTokenFrom } from './key-files.ts';

const TIMEOUT_MS = 10_000;
const EVERY_ADDRESS = new Set(['0.0.0.0', '::']);

type Called = Pick<Configuration, 'operatorHost' | 'operatorPort' | 'operatorToken' | 'dataDirectory'>;

/** The base URL of the operator API on this machine. */
export function operatorUrlOf({ operatorHost, operatorPort }: Called): string {
  const host = EVERY_ADDRESS.has(operatorHost) ? '127.0.0.1' : operatorHost;
  return `http://${host.includes(':') ? `[${host}]` : host}:${operatorPort}`;
}

/**
 * @returns The body of the response.
 * @throws UsageError with one line if the service does not respond, or refuses the request.
 */
export async function callOperator(
  configuration: Called,
  method: 'GET' | 'POST',
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  const url = operatorUrlOf(configuration);
  const token = configuration.operatorToken ?? operatorTokenFrom(configuration.dataDirectory);
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new UsageError(`The service does not respond at ${url} (${errorText(error)}). Start it, or set RESELLER_OPERATOR_PORT.`);
  });
  const body: Readonly<Record<string, unknown>> = Object(await response.json().catch(() => ({})));
  // `/readyz` says with a 503 why the service is not ready. The `status` of a problem is a number.
  if (response.ok || typeof body['status'] === 'string') return body;
  throw new UsageError(`The service refused ${method} ${path} with ${response.status}: ${String(body['detail'] ?? '')}`);
}
