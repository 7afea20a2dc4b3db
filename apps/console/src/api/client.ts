/** The client of the operator API. The page has the origin of this API, and the browser sends the cookie of the session. */
import * as operatorClient from '@reseller/operator-client';
import type { OperationId } from '@reseller/operator-client';

import { rememberVersion } from './versions.ts';

/** Long, because an advance of the clock runs all jobs of the time between. */
const TIMEOUT_MS = 600_000;

let onSignedOut: (() => void) | undefined;

/** Calls the listener when the service no longer takes the session. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export const client = operatorClient.createClient({
  baseUrl: globalThis.location.origin,
  token: null,
  timeoutMs: TIMEOUT_MS,
  middleware: [
    (next) => async (url, init) => {
      const response = await next(url, init);
      if (response.status === 401) onSignedOut?.();
      await rememberVersion(String(url), response);
      return response;
    },
  ],
});

const functions: Readonly<Record<OperationId, (options: never) => unknown>> = operatorClient;

/** The values of a request. */
export interface Sent {
  readonly path?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends any operation by its name, for callers that know the type of its data. */
export async function send<Data = unknown>(id: OperationId, sent: Sent, signal?: AbortSignal): Promise<Data> {
  return Reflect.apply(functions[id], undefined, [{ client, ...sent, signal }]);
}
