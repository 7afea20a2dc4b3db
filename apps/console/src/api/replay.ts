/** Sends a request to the reseller API as an account. Its key is only in the memory of this page. */
import { issueApiKey } from '@reseller/operator-client';

import { client } from './client.ts';
import { parametersOf } from './snippets.ts';
import type { LoggedRequest } from './snippets.ts';

const keys = new Map<string, string>();

export function keyOf(accountId: string): string | undefined {
  return keys.get(accountId);
}

export function rememberKey(accountId: string, key: string): void {
  keys.set(accountId, key);
}

/** Keys that the console issues expire after this time of the service's clock. */
const KEY_MS = 3_600_000;

/** @param now The time of the service's clock. */
export async function issueKey(accountId: string, now: string): Promise<void> {
  const { key } = await issueApiKey({
    client,
    path: { account_id: accountId },
    body: { label: 'Console replay', access: 'full', valid_until: new Date(Date.parse(now) + KEY_MS).toISOString() },
  });
  rememberKey(accountId, key);
}

export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** @throws TypeError if the browser may not send the request, or the service cannot be reached. */
export async function replay(request: LoggedRequest, { baseUrl, key }: { readonly baseUrl: string; readonly key: string }): Promise<Reply> {
  const parameters = new URLSearchParams(parametersOf(request));
  const isRead = request.method === 'GET';
  const query = isRead && parameters.size > 0 ? `?${parameters.toString()}` : '';
  const response = await fetch(`${baseUrl}${request.endpoint}${query}`, {
    method: request.method,
    headers: { 'X-SERVICE-APIKEY': key },
    ...(isRead || parameters.size === 0 ? {} : { body: parameters }),
    credentials: 'omit',
  });
  return { status: response.status, body: await response.text() };
}
