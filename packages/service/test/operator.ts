/** The operator API on a socket, for tests: through the generated client, every answer judged by the document. */
import document from '@reseller/openapi/operator.json' with { type: 'json' };
import { createValidator, parseDocument, readOperations, responseFor } from '@reseller/contract';
import { createClient } from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';
import { expect } from 'vitest';

import { startService } from './harness.ts';
import type { TestService } from './harness.ts';

const api = parseDocument(document);
const validator = createValidator(api);
const operations = readOperations(api).map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** What the tests' operator presents. */
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
  const clientWith = (token: string) => createClient({ baseUrl: operatorUrl, token, fetch: judged });
  return {
    ...service,
    operatorUrl,
    clientWith,
    client: clientWith(OPERATOR_TOKEN),
    async operate(path, init = {}) {
      const headers = new Headers({ authorization: `Bearer ${OPERATOR_TOKEN}`, ...Object.fromEntries(new Headers(init.headers)) });
      const answer = await fetch(operatorUrl + path, { ...init, headers });
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
    },
  };
}

/** `fetch` that fails the test where the document does not describe what comes back. */
const judged: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  const { pathname } = new URL(String(input));
  const method = init?.method?.toUpperCase() ?? 'GET';
  const known = operations.find(({ operation, pattern }) => operation.method === method && pattern.test(pathname))?.operation;
  if (!known) throw new Error(`The operator's document has no ${method} ${pathname}.`);
  const text = await answer.clone().text();
  const described = responseFor(known, answer.status);
  expect(described, `${known.id} answered ${answer.status}, which the document does not describe: ${text}`).toBeDefined();
  const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
  const pointer = described?.content[type]?.pointer;
  if (text !== '') expect(pointer, `${known.id} ${answer.status} ${type}`).toBeDefined();
  if (pointer !== undefined) expect(validator.compile(pointer)(JSON.parse(text)), `${known.id} ${answer.status}`).toEqual([]);
  return answer;
};
