/** Configures the generated client. The page has the origin of the operator API, and the browser sends the cookie of the session. */
import { client } from '../generated/client.gen.ts';
import { operations } from '../generated/operations.gen.ts';
import { ApiError } from './problem.ts';

export type OperationId = keyof typeof operations;
export type Scope = (typeof operations)[OperationId]['scope'];

/** Calls `onSignedOut` when the service no longer takes the session. */
export function configureClient(onSignedOut: () => void): void {
  client.setConfig({ baseUrl: globalThis.location.origin, throwOnError: true });
  client.interceptors.error.use((error, response) => {
    const found = response as Response | undefined;
    if (found?.status === 401) onSignedOut();
    return new ApiError(found?.status ?? 0, typeof error === 'object' && error !== null ? error : {});
  });
}

/** The values of a request. */
export interface Sent {
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Sends any operation and returns the body of its response. */
export async function send(id: OperationId, { path = {}, body }: Sent): Promise<unknown> {
  const { method, path: url } = operations[id];
  const { data } = await client.request({
    method,
    url,
    path: { ...path },
    ...(body === undefined ? {} : { body, headers: { 'Content-Type': 'application/json' } }),
  });
  return data;
}
