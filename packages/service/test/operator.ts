/** The operator API on a socket, for tests: the generated client, with each response checked against the document. */
import { appendFileSync } from 'node:fs';

import type { Operation } from '@reseller/contract';
import { createClient, ResellerError } from '@reseller/operator-client';
import type { Client, ClientConfig } from '@reseller/operator-client';
import { expect, inject } from 'vitest';

import { startService } from './harness.ts';
import type { TestService } from './harness.ts';
import { operatorApi, receive } from './http-client.ts';
import type { Received } from './http-client.ts';

/** The operator token of the tests. */
export const OPERATOR_TOKEN = 'operator-token-of-the-tests-0123456789';

export interface TestOperator extends TestService {
  /** A client with the operator token. */
  readonly client: Client;
  readonly operatorUrl: string;
  /** A client with another token. */
  clientWith(token: string): Client;
  /** Sends a request as it is and checks the response if the request belongs to an operation. */
  operate(path: string, init?: RequestInit): Promise<Received>;
}

/** Starts a service with its operator API; both end with the test. */
export async function startOperator(options: Parameters<typeof startService>[0] = {}): Promise<TestOperator> {
  const service = await startService({ ...options, operatorToken: OPERATOR_TOKEN });
  const operatorUrl = await service.operator.listen({ host: '127.0.0.1', port: 0 });
  // An advance of the clock runs a round of jobs at each stop, which takes minutes on a busy machine.
  const more = { fetch: checkedFetch, maxRetries: 0, timeoutMs: 300_000 };
  const clientWith = (token: string) => createClient({ baseUrl: operatorUrl, token, ...more });
  return {
    ...service,
    operatorUrl,
    clientWith,
    client: clientWith(OPERATOR_TOKEN),
    async operate(path, init = {}) {
      const headers = new Headers({ authorization: `Bearer ${OPERATOR_TOKEN}`, ...Object.fromEntries(new Headers(init.headers)) });
      const received = await receive(fetch(operatorUrl + path, { ...init, headers }));
      // Some requests belong to no operation. Only the responses of operations are checked.
      const operation = operatorApi.operationAt(init.method ?? 'GET', path);
      if (operation && received.status !== 405) expectDescribed(operation, received);
      return received;
    },
  };
}

/** The error that a call of the client throws. */
export async function refusalOf(call: Promise<unknown>): Promise<ResellerError> {
  const error: unknown = await call.then(
    () => expect.fail('The call was not refused.'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ResellerError)) throw error;
  return error;
}

function expectDescribed(operation: Operation, received: Received): void {
  operatorApi.check(operation, received);
  const seen = inject('seenStatuses');
  if (seen) appendFileSync(seen, `operator ${operation.id} ${received.status}\n`);
}

/** `fetch` that fails the test if the document does not describe the response. */
const checkedFetch: NonNullable<ClientConfig['fetch']> = async (url, init) => {
  const response = await fetch(url, init);
  const operation = operatorApi.operationAt(init.method ?? 'GET', url);
  if (!operation) throw new Error(`The operator's document has no ${init.method} ${url}.`);
  expectDescribed(operation, await receive(Promise.resolve(response.clone())));
  return response;
};
