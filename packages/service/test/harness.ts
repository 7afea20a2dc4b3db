/** The service on a socket, for tests: a store of its own, a clock that the test turns, and every answer judged by the document. */
import { appendFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

import document from '@reseller/openapi/openapi.json' with { type: 'json' };
import { createValidator, fillPath, parseDocument, readOperations, responseFor, writeForm } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { Logger } from 'pino';
import { expect, inject, onTestFinished } from 'vitest';

import { createAccount, createService, issueApiKey, systemRandom } from '../src/index.ts';
import type { Ports, Random, Service, Store } from '../src/index.ts';
import type { OperationId } from '../src/reseller/operation.ts';
import { euros } from '../src/rules/money.ts';
import { openStore } from './engines.ts';
import type { Engine } from './engines.ts';
import { TestClock } from './ports/clock.ts';
import { TestFleet } from './ports/fleet.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import { TestRegistrar } from './ports/registrar.ts';
import { seededPlace } from './prepared-store.ts';

const api = parseDocument(document);
const validator = createValidator(api);
const operations = new Map(readOperations(api).map((operation) => [operation.id, operation]));

/** The service's encryption secret. */
export const SECRET = 'x'.repeat(32);

/** What one call sends. */
export interface Sent {
  readonly path?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, unknown>>;
  /** In place of a form: the body as it is. */
  readonly body?: string;
  /** Type of the body; that of a form where none is given. */
  readonly contentType?: string;
  /** Null for none. */
  readonly apiKey?: string | null;
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
  readonly fleet: TestFleet;
  readonly registrar: TestRegistrar;
  readonly ports: Ports;
  readonly store: Store;
  /** Where the store's files are. */
  readonly directory: string;
  /** Calls an operation; the answer is judged by the document. */
  call(operation: OperationId, sent?: Sent): Promise<Received>;
  /** Calls an operation with a further header line that no HTTP library would send; the answer is judged by the document. */
  callWithHeader(operation: OperationId, line: string): Promise<Received>;
  /** Sends a request as it is; the answer is judged as an envelope. */
  send(path: string, init?: RequestInit): Promise<Received>;
  /** The operator's side; it is not listening. */
  readonly operator: FastifyInstance;
  /** The provider's operations on VMs. */
  readonly vms: Service['vms'];
  /** The provider's operations on domains. */
  readonly domains: Service['domains'];
  /** Runs the jobs that are due. */
  runScheduledJobs(): Promise<number>;
  /** Stops the service; the store stays open until the test ends. */
  close(): Promise<void>;
  /** A further account, with its key. */
  account(creditLimit?: string): Promise<{ readonly id: string; readonly apiKey: string }>;
}

/** Starts a service that ends with the test. TEST_ENGINE=postgres runs it on PostgreSQL. */
export async function startService({
  creditLimit = '1000.00',
  random = systemRandom,
  publicUrl,
  hypervisor = new TestHypervisor(),
  fleet = new TestFleet(),
  registrar = new TestRegistrar(),
  portTimeout,
  operatorToken,
  mode,
  lenient,
  engine = process.env['TEST_ENGINE'] === 'postgres' ? 'postgres' : 'sqlite',
  databaseUrl,
  vmIdentifiers,
  trustedProxies = [],
  logger = pino({ level: 'silent' }),
}: {
  creditLimit?: string;
  random?: Random;
  publicUrl?: string;
  hypervisor?: TestHypervisor;
  fleet?: TestFleet;
  registrar?: TestRegistrar;
  /** Milliseconds. */
  portTimeout?: number;
  operatorToken?: string;
  mode?: 'sandbox' | 'live';
  lenient?: boolean;
  /** A PostgreSQL database with the sandbox's data, to run on in place of a new one. */
  databaseUrl?: string;
  engine?: Engine;
  /** What new VMs are given identifiers from; all five-digit numbers where nothing is said. */
  vmIdentifiers?: { minimum: number; maximum: number };
  /** Proxies whose X-Forwarded-For is believed. */
  trustedProxies?: readonly string[];
  logger?: Logger;
} = {}): Promise<TestService> {
  const place = databaseUrl ?? (await seededPlace(engine));
  const store = await openStore(databaseUrl === undefined ? engine : 'postgres', place);
  const clock = new TestClock();
  const ports = { clock, random, hypervisor, fleet, registrar };
  const { app, operator, vms, domains, runScheduledJobs, close } = await createService({
    store,
    ports,
    secret: SECRET,
    logger,
    trustedProxies,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(operatorToken === undefined ? {} : { operatorToken }),
    ...(mode === undefined ? {} : { mode }),
    ...(portTimeout === undefined ? {} : { portTimeout }),
    ...(lenient === undefined ? {} : { lenient }),
    ...(vmIdentifiers === undefined ? {} : { vmIdentifiers }),
  });
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await close();
    await store.close();
  });
  const account = (limit = '1000.00') =>
    store.commit(async ({ db }) => {
      const id = await createAccount(db, ports, { name: 'test', creditLimit: euros(limit) });
      return { id, apiKey: await issueApiKey(db, ports, id, { label: 'test', mode: mode ?? 'sandbox' }) };
    });
  const { apiKey } = await account(creditLimit);
  const send = (path: string, init: RequestInit = {}) => receive(fetch(baseUrl + path, init));
  return {
    baseUrl,
    apiKey,
    clock,
    hypervisor,
    fleet,
    registrar,
    ports,
    store,
    directory: place,
    operator,
    vms,
    domains,
    runScheduledJobs,
    close,
    account,
    async send(path, init) {
      const received = await send(path, init);
      expectEnvelope(received);
      return received;
    },
    async callWithHeader(id, line) {
      const operation = operationOf(id);
      const { hostname, port } = new URL(baseUrl);
      const socket = connect(Number(port), hostname);
      socket.write(`${operation.method} ${operation.path} HTTP/1.1\r\nHost: ${hostname}\r\nX-SERVICE-APIKEY: ${apiKey}\r\n${line}\r\n\r\n`);
      const answer = await text(socket);
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      const headers = head
        .split('\r\n')
        .slice(1)
        .map((header): [string, string] => [header.split(': ')[0] ?? '', header.split(': ')[1] ?? '']);
      const received = { status: Number(head.split(' ')[1]), headers: new Headers(headers), body: JSON.parse(body) };
      expectDocumented(operation, received);
      return received;
    },
    async call(id, sent = {}) {
      const operation = operationOf(id);
      const headers = new Headers(sent.apiKey === null ? {} : { 'x-service-apikey': sent.apiKey ?? apiKey });
      if (sent.idempotencyKey !== undefined) headers.set('idempotency-key', sent.idempotencyKey);
      const init: RequestInit = { method: operation.method, headers };
      const body = sent.body ?? (sent.form && writeForm(operation, sent.form));
      if (body !== undefined) {
        init.body = body;
        headers.set('content-type', sent.contentType ?? 'application/x-www-form-urlencoded');
      }
      const path = fillPath(operation.path, sent.path ?? {});
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
  const seen = inject('seenStatuses');
  if (seen) appendFileSync(seen, `${operation.id} ${status}\n`);
  if (described?.pointer !== undefined) expect(validator.compile(described.pointer)(body), `${operation.id} ${status}`).toEqual([]);
}

function expectEnvelope({ status, body }: Received): void {
  expect(body).toMatchObject({ status: status < 400 ? 'success' : 'error', message: expect.any(String) });
  expect(body).toHaveProperty('requestID');
  expect(body).toHaveProperty('data');
  if (status >= 400) expect(body).toHaveProperty('type', expect.any(String));
}
