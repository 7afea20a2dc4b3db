/** The service on a socket, for tests: a store of its own, a clock that the test turns, and every answer judged by the document. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import document from '@reseller/openapi/openapi.json' with { type: 'json' };
import { createValidator, parseDocument, readOperations, responseFor, writeForm } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';

import { createAccount, createService, issueApiKey, openSqliteStore, seedSandbox, systemRandom } from '../src/index.ts';
import type { Hypervisor, Ports, Random, Store, VmOrder } from '../src/index.ts';
import type { OperationId } from '../src/operations/operation.ts';
import { euros } from '../src/rules/money.ts';

const api = parseDocument(document);
const validator = createValidator(api);
const operations = new Map(readOperations(api).map((operation) => [operation.id, operation]));

/** A moment in the middle of a month of 30 days. */
export const START = Date.UTC(2026, 10, 10, 12, 0, 0);

/** A clock that stands still until it is turned. */
export class TestClock {
  #now = START;
  now(): number {
    return this.#now;
  }
  /** @param milliseconds How far to go on. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
  /** @param iso An instant that is not before the present one. */
  advanceTo(iso: string): void {
    this.#now = Date.parse(iso);
  }
}

/** A hypervisor that remembers what it was asked, and fails when told to. */
export class TestHypervisor implements Hypervisor {
  readonly vms = new Map<number, VmOrder>();
  failing: Error | undefined;
  async create(order: VmOrder): Promise<void> {
    this.vms.set(order.vmId, order);
    if (this.failing) throw this.failing;
  }
  async reinstall(vmId: number, os: string): Promise<void> {
    if (this.failing) throw this.failing;
    const order = this.vms.get(vmId);
    if (order) this.vms.set(vmId, { ...order, os });
  }
  async remove(vmId: number): Promise<void> {
    this.vms.delete(vmId);
  }
}

/** What one call sends. */
export interface Sent {
  readonly path?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, unknown>>;
  readonly apiKey?: string;
  readonly idempotencyKey?: string;
}

/** What came back. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the shape that it asks for, and the document has judged it
  readonly body: any;
}

export interface TestService {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly clock: TestClock;
  readonly hypervisor: TestHypervisor;
  readonly ports: Ports;
  readonly store: Store;
  /** Calls an operation; the answer is judged by the document. */
  call(operation: OperationId, sent?: Sent): Promise<Received>;
  /** Sends a request as it is; the answer is judged as an envelope. */
  send(path: string, init?: RequestInit): Promise<Received>;
  /** Does all that has fallen due. */
  runDueWork(): Promise<number>;
  /** A further account, with its key. */
  account(creditLimit?: string): Promise<{ readonly id: string; readonly apiKey: string }>;
}

/** Starts a service that ends with the test. */
export async function startService({
  creditLimit = '1000.00',
  random = systemRandom,
}: { creditLimit?: string; random?: Random } = {}): Promise<TestService> {
  const directory = mkdtempSync(join(tmpdir(), 'service-test-'));
  const store = await openSqliteStore(directory);
  const clock = new TestClock();
  const hypervisor = new TestHypervisor();
  const ports = { clock, random, hypervisor };
  await seedSandbox(store, ports);
  const { app, runDueWork } = await createService({ store, ports, secret: 'x'.repeat(32), logger: pino({ level: 'silent' }) });
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await app.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const account = (limit = '1000.00') =>
    store.commit(async ({ db }) => {
      const id = await createAccount(db, ports, { name: 'test', creditLimit: euros(limit) });
      return { id, apiKey: await issueApiKey(db, ports, id, { label: 'test', mode: 'sandbox' }) };
    });
  const { apiKey } = await account(creditLimit);
  const send = (path: string, init: RequestInit = {}) => receive(fetch(baseUrl + path, init));
  return {
    baseUrl,
    apiKey,
    clock,
    hypervisor,
    ports,
    store,
    runDueWork,
    account,
    async send(path, init) {
      const received = await send(path, init);
      expectEnvelope(received);
      return received;
    },
    async call(id, sent = {}) {
      const operation = operationOf(id);
      const headers = new Headers({ 'x-service-apikey': sent.apiKey ?? apiKey });
      if (sent.idempotencyKey !== undefined) headers.set('idempotency-key', sent.idempotencyKey);
      const init: RequestInit = { method: operation.method, headers };
      if (sent.form) init.body = new URLSearchParams(writeForm(operation, sent.form));
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(sent.path?.[name] ?? ''));
      const received = await send(path, init);
      expectDocumented(operation, received);
      return received;
    },
  };
}

/** The smallest VM form of the tests: 2 x 2.00 + 4 x 1.20 + 40 x 0.04 = 10.40 EUR for 30 days. */
export const SMALL_VM = { cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' } as const;

export function operationOf(id: string): Operation {
  const operation = operations.get(id);
  if (!operation) throw new Error(`The document has no operation ${id}.`);
  return operation;
}

async function receive(response: Promise<Response>): Promise<Received> {
  const { status, headers, ...rest } = await response.then(async (answer) => ({
    status: answer.status,
    headers: answer.headers,
    text: await answer.text(),
  }));
  return { status, headers, body: JSON.parse(rest.text) };
}

function expectDocumented(operation: Operation, { status, headers, body }: Received): void {
  const described = responseFor(operation, status)?.content['application/json'];
  expect(described, `${operation.id} answered ${status}, which the document does not describe: ${JSON.stringify(body)}`).toBeDefined();
  expect(headers.get('content-type')).toMatch(/^application\/json\b/);
  if (described?.pointer !== undefined) expect(validator.compile(described.pointer)(body), `${operation.id} ${status}`).toEqual([]);
}

function expectEnvelope({ status, body }: Received): void {
  expect(body).toMatchObject({ status: status < 400 ? 'success' : 'error', message: expect.any(String) });
  expect(body).toHaveProperty('requestID');
  expect(body).toHaveProperty('data');
  if (status >= 400) expect(body).toHaveProperty('type', expect.any(String));
}
