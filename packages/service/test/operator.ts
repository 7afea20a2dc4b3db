/** The operator API on a socket, for tests: through the generated client, every answer judged by the document. */
import { appendFileSync } from 'node:fs';

import document from '@reseller/openapi/operator.json' with { type: 'json' };
import { createValidator, parseDocument, pathPattern, readOperations, responseFor } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import { createClient, ResellerError } from '@reseller/operator-client';
import type { Client, ClientConfig } from '@reseller/operator-client';
import { expect, inject } from 'vitest';

import { startService } from './harness.ts';
import type { TestService } from './harness.ts';

const api = parseDocument(document);
const validator = createValidator(api);
const operations = readOperations(api).map((operation) => ({
  operation,
  pattern: pathPattern(operation.path),
}));

/** The operator token of the tests. */
export const OPERATOR_TOKEN = 'operator-token-of-the-tests-0123456789';

export interface TestOperator extends TestService {
  /** A client with the operator token. */
  readonly client: Client;
  readonly operatorUrl: string;
  /** A client with another token. */
  clientWith(token: string): Client;
  /** Sends a request as it is; the answer is judged as a problem where it is one. */
  operate(path: string, init?: RequestInit): Promise<{ status: number; headers: Headers; body: unknown }>;
}

/** Starts a service with its operator API; both end with the test. */
export async function startOperator(options: Parameters<typeof startService>[0] = {}): Promise<TestOperator> {
  const service = await startService({ ...options, operatorToken: OPERATOR_TOKEN });
  const operatorUrl = await service.operator.listen({ host: '127.0.0.1', port: 0 });
  const clientWith = (token: string) => createClient({ baseUrl: operatorUrl, token, fetch: judged, maxRetries: 0 });
  return {
    ...service,
    operatorUrl,
    clientWith,
    client: clientWith(OPERATOR_TOKEN),
    async operate(path, init = {}) {
      const headers = new Headers({ authorization: `Bearer ${OPERATOR_TOKEN}`, ...Object.fromEntries(new Headers(init.headers)) });
      const answer = await fetch(operatorUrl + path, { ...init, headers });
      const text = await answer.text();
      // Some requests belong to no operation. Only the responses of operations are checked.
      const known = operationAt(init.method ?? 'GET', path);
      if (known && answer.status !== 405) judge(known, answer, text);
      return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
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

function operationAt(method: string, path: string): Operation | undefined {
  const { pathname } = new URL(path, 'http://operator');
  return operations.find(({ operation, pattern }) => operation.method === method.toUpperCase() && pattern.test(pathname))?.operation;
}

/** Fails the test where the document does not describe an answer. */
function judge(known: Operation, { status, headers }: Pick<Response, 'status' | 'headers'>, text: string): void {
  const described = responseFor(known, status);
  expect(described, `${known.id} answered ${status}, which the document does not describe: ${text}`).toBeDefined();
  const seen = inject('seenStatuses');
  if (seen) appendFileSync(seen, `operator ${known.id} ${status}\n`);
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  const pointer = described?.content[type]?.pointer;
  if (text !== '') expect(pointer, `${known.id} ${status} ${type}`).toBeDefined();
  if (pointer !== undefined) expect(validator.compile(pointer)(JSON.parse(text)), `${known.id} ${status}`).toEqual([]);
}

/** `fetch` that fails the test where the document does not describe what comes back. */
const judged: NonNullable<ClientConfig['fetch']> = async (url, init) => {
  const answer = await fetch(url, init);
  const known = operationAt(init.method ?? 'GET', url);
  if (!known) throw new Error(`The operator's document has no ${init.method} ${url}.`);
  judge(known, answer, await answer.clone().text());
  return answer;
};
