/** Several nodes on one database, for tests: services of one process, each with its own connections, in one world. */
import { fillPath, writeForm } from '@reseller/contract';
import { pino } from 'pino';
import { onTestFinished, vi } from 'vitest';

import { createAccount, createService, issueApiKey, simulatedPorts } from '../src/index.ts';
import type { Ports, Service, Store } from '../src/index.ts';
import type { OperationId } from '../src/reseller/operation.ts';
import { euros } from '../src/rules/money.ts';
import { openPostgresStore } from '../src/store/postgres/open.ts';
import { operationOf, SECRET } from './harness.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import type { Sent } from './harness.ts';
import { OPERATOR_TOKEN } from './operator.ts';
import { TestClock } from './ports/clock.ts';
import { seededPlace } from './prepared-store.ts';

/** The response of an instance. */
export interface NodeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the shape that it asks for
  readonly body: any;
}

/** One of the nodes. */
export interface TestNode {
  readonly store: Store;
  readonly service: Service;
  call(operation: OperationId, sent?: Sent): Promise<NodeAnswer>;
  /** Sends a request to the node's operator API, with the operator token unless another is given. */
  operate(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown, token?: string): Promise<NodeAnswer>;
}

/** Nodes that share a database and the world. */
export interface TestNodes {
  readonly url: string;
  readonly ports: Ports;
  readonly clock: TestClock;
  readonly hypervisor: TestHypervisor;
  readonly accountId: string;
  readonly apiKey: string;
  /** A further node. */
  start(given?: Partial<Parameters<typeof createService>[0]>): Promise<TestNode>;
}

/** A new database with a filled sandbox and an account; it and its nodes end with the test. */
export async function newNodes({ creditLimit = '1000.00', ...given }: Partial<Ports> & { creditLimit?: string } = {}): Promise<TestNodes> {
  const url = await seededPlace('postgres');
  const clock = new TestClock();
  const hypervisor = new TestHypervisor();
  const ports = simulatedPorts({ clock, hypervisor, ...given });
  const seeding = await openPostgresStore(url);
  const account = await seeding.commit(async ({ db }) => {
    const id = await createAccount(db, ports, { name: 'test', creditLimit: euros(creditLimit) });
    return { accountId: id, apiKey: await issueApiKey(db, ports, id, { label: 'test', mode: 'sandbox' }) };
  });
  await seeding.close();
  return {
    url,
    ports,
    clock,
    hypervisor,
    ...account,
    async start(parts = {}) {
      const store = await openPostgresStore(url);
      const service = await createService({
        store,
        ports,
        secret: SECRET,
        operatorToken: OPERATOR_TOKEN,
        publicUrl: 'https://nodes.example',
        logger: pino({ level: 'silent' }),
        ...parts,
      });
      onTestFinished(async () => {
        await service.close();
        await store.close();
      });
      return {
        store,
        service,
        async call(id, { path = {}, form, apiKey = account.apiKey, idempotencyKey } = {}) {
          const operation = operationOf(id);
          const answer = await service.app.inject({
            method: methodOf(operation.method),
            url: fillPath(operation.path, path),
            headers: {
              ...(apiKey !== null && { 'x-service-apikey': apiKey }),
              ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
              ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
            },
            ...(form && { payload: writeForm(operation, form) }),
          });
          return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
        },
        async operate(method, path, body, token = OPERATOR_TOKEN) {
          const answer = await service.operator.inject({
            method,
            url: path,
            headers: {
              authorization: `Bearer ${token}`,
              ...(body !== undefined && { 'content-type': 'application/json' }),
            },
            ...(body !== undefined && { payload: JSON.stringify(body) }),
          });
          return { status: answer.statusCode, headers: answer.headers, body: answer.body === '' ? undefined : answer.json() };
        },
      };
    },
  };
}

/** Waits for a condition, for as long as a busy machine may take. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(condition, { timeout: 30_000, interval: 20 });
}

function methodOf(method: string): 'GET' | 'POST' | 'PUT' | 'DELETE' {
  if (method === 'GET' || method === 'POST' || method === 'PUT' || method === 'DELETE') return method;
  throw new Error(`No operation has the method ${method}.`);
}
