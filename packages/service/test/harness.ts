/** The service on a socket, for tests: with its own store and a clock that the test controls. Each response is checked against the document. */
import { appendFileSync } from 'node:fs';

import type { Operation } from '@reseller/contract';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { Logger } from 'pino';
import { inject } from 'vitest';

import { createAccount, issueApiKey, systemRandom } from '../src/index.ts';
import type { Delays, Ports, Random, Store } from '../src/index.ts';
import type { OperationId } from '../src/reseller/operation.ts';
import { euros } from '../src/rules/money.ts';
import type { ConsoleLimits } from '../src/rules/vm-console.ts';
import type { Tuning } from '../src/store/tuning.ts';
import { openStore } from './engines.ts';
import type { Engine } from './engines.ts';
import { overSocket, receive, resellerApi, resellerRequest } from './http-client.ts';
import type { Received, Sent } from './http-client.ts';
import { oncePerFile, whenEnded } from './lifetime.ts';
import { TestClock } from './ports/clock.ts';
import { TestDns } from './ports/dns.ts';
import { TestFleet } from './ports/fleet.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import { TestRegistrar } from './ports/registrar.ts';
import { seededPlace } from './prepared-store.ts';
import { createProviderService } from './provider-service.ts';
import type { ProviderService } from './provider-service.ts';
import { exchange, requestText } from './raw-http.ts';

/** The service's encryption secret. */
export const SECRET = 'x'.repeat(32);

/** So that two things are already more than a batch. */
const SMALL_BATCHES: Partial<Tuning> = { statementRows: 1 };

export interface TestService {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly clock: TestClock;
  readonly hypervisor: TestHypervisor;
  readonly fleet: TestFleet;
  readonly registrar: TestRegistrar;
  readonly dns: TestDns;
  readonly ports: Ports;
  readonly store: Store;
  /** Where the store's files are. */
  readonly directory: string;
  /** Calls an operation and checks the response against the document. */
  call(operation: OperationId, sent?: Sent): Promise<Received>;
  /** Calls an operation with a further header line that no HTTP library would send. */
  callWithHeader(operation: OperationId, line: string): Promise<Received>;
  /** Sends a request as it is and checks that the response is an envelope. */
  send(path: string, init?: RequestInit): Promise<Received>;
  /** The operator application, which does not listen on a port. */
  readonly operator: FastifyInstance;
  /** A new sign-in code of the console. */
  createSignInCode(): string;
  /** The provider's operations on VMs. */
  readonly vms: ProviderService['vms'];
  /** The provider's operations on domains. */
  readonly domains: ProviderService['domains'];
  /** Runs the jobs that are due. */
  runScheduledJobs(): Promise<number>;
  /** Runs a round of jobs as a server does, which waits for no other system. */
  runRound(): Promise<number>;
  /** Waits for the work that runs next to the rounds. */
  settled(): Promise<void>;
  /** Stops the service; the store stays open until the test ends. */
  close(): Promise<void>;
  /** Stops the service and closes the store before the test ends. A property calls it after each run, so that many runs need few connections. */
  end(): Promise<void>;
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
  dns = new TestDns(),
  portTimeout,
  delays,
  operatorToken,
  mode,
  extension,
  engine = process.env['TEST_ENGINE'] === 'postgres' ? 'postgres' : 'sqlite',
  databaseUrl,
  place,
  hasDemo = false,
  vmIdentifiers,
  trustedProxies = [],
  allowedHosts = [],
  securityContact,
  consoleLimits,
  tuning = {},
  logger = pino({ level: 'silent' }),
}: {
  creditLimit?: string;
  random?: Random;
  publicUrl?: string;
  hypervisor?: TestHypervisor;
  fleet?: TestFleet;
  registrar?: TestRegistrar;
  dns?: TestDns;
  /** Milliseconds. */
  portTimeout?: number;
  /** How long the infrastructure takes. */
  delays?: Delays;
  operatorToken?: string;
  mode?: 'sandbox' | 'live';
  /** Whether the reseller API has the extension. By default, a sandbox has it. */
  extension?: boolean;
  /** A PostgreSQL database with the data of a sandbox, used instead of a new one. */
  databaseUrl?: string;
  /** The directory or database of a store that exists, used instead of a new one. The service then creates no account. */
  place?: string;
  engine?: Engine;
  /** Whether the demo account of a new store has its resources. */
  hasDemo?: boolean;
  /** The range of identifiers for new VMs. Default: all five-digit numbers. */
  vmIdentifiers?: { minimum: number; maximum: number };
  /** Proxies whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[];
  allowedHosts?: readonly string[];
  securityContact?: string;
  /** Sizes, limits and times other than the defaults. */
  consoleLimits?: Partial<ConsoleLimits>;
  tuning?: Partial<Tuning>;
  logger?: Logger;
} = {}): Promise<TestService> {
  const directory = place ?? databaseUrl ?? (await seededPlace(engine, hasDemo ? SECRET : undefined));
  const store = await openStore(databaseUrl === undefined ? engine : 'postgres', directory, { ...SMALL_BATCHES, ...tuning });
  const clock = new TestClock();
  const ports = { clock, random, hypervisor, fleet, registrar, dns };
  const { app, operator, createSignInCode, vms, domains, runScheduledJobs, runRound, settled, close } = await createProviderService({
    store,
    ports,
    secret: SECRET,
    logger,
    trustedProxies,
    allowedHosts,
    securityContact,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(operatorToken === undefined ? {} : { operatorToken }),
    ...(mode === undefined ? {} : { mode }),
    ...(portTimeout === undefined ? {} : { portTimeout }),
    ...(delays === undefined ? {} : { delays }),
    ...(extension === undefined ? {} : { extension }),
    ...(consoleLimits === undefined ? {} : { consoleLimits }),
    ...(vmIdentifiers === undefined ? {} : { vmIdentifiers }),
  });
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  async function end(): Promise<void> {
    await close();
    await store.close();
  }
  whenEnded(end);
  const account = (limit = '1000.00') =>
    store.commit(async ({ db }) => {
      const id = await createAccount(db, ports, { name: 'test', creditLimit: euros(limit) });
      return { id, apiKey: await issueApiKey(db, ports, id, { label: 'test', mode: mode ?? 'sandbox' }) };
    });
  const { apiKey } = place === undefined ? await account(creditLimit) : { apiKey: '' };
  return {
    baseUrl,
    clock,
    hypervisor,
    fleet,
    registrar,
    dns,
    ports,
    store,
    directory,
    operator,
    createSignInCode,
    vms,
    domains,
    runScheduledJobs,
    runRound,
    settled,
    close,
    end,
    account,
    async send(path, init = {}) {
      const received = await receive(fetch(baseUrl + path, init));
      expectEnvelope(received);
      return received;
    },
    ...callsWith(baseUrl, apiKey),
  };
}

function callsWith(baseUrl: string, apiKey: string): Pick<TestService, 'apiKey' | 'call' | 'callWithHeader'> {
  const transport = overSocket(baseUrl);
  return {
    apiKey,
    async callWithHeader(id, line) {
      const operation = resellerApi.operation(id);
      const { hostname } = new URL(baseUrl);
      const headers = [`Host: ${hostname}`, `X-SERVICE-APIKEY: ${apiKey}`, line];
      const response = await exchange(baseUrl, requestText(`${operation.method} ${operation.path} HTTP/1.1`, headers));
      const received = { ...response, body: JSON.parse(response.text) };
      expectDescribed(operation, received);
      return received;
    },
    async call(id, sent = {}) {
      const operation = resellerApi.operation(id);
      const received = await transport(resellerRequest(operation, sent, apiKey));
      expectEnvelope(received);
      expectDescribed(operation, received);
      return received;
    },
  };
}

/**
 * One service for all tests of a file that call the function which it returns, each with a new account. A test starts its own service if it
 * moves the clock, changes the catalogue, stops or fails a port, or reads what all accounts have.
 */
export function sharedService(options: Parameters<typeof startService>[0] = {}): () => Promise<TestService> {
  const shared = oncePerFile(() => startService(options));
  return async () => {
    const service = await shared();
    const { apiKey } = await service.account(options.creditLimit);
    return { ...service, ...callsWith(service.baseUrl, apiKey) };
  };
}

/**
 * The smallest VM form of the tests: 2 x 2.00 + 4 x 1.20 + 40 x 0.04 = 10.40 EUR for 30 days. This price is round, so that a reader can
 * check by hand the amounts that tests name. The clock starts at an odd second, so almost every amount still needs rounding. Tests of sums
 * and limits draw awkward prices: the properties of `core/accounting`, the simulator and the outside models.
 */
export const SMALL_VM = { cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' } as const;

/** Checks a response against the document, and records the status for the list of statuses that the tests have seen. */
export function expectDescribed(operation: Operation, received: Received): void {
  resellerApi.check(operation, received);
  const seen = inject('seenStatuses');
  if (seen) appendFileSync(seen, `${operation.id} ${received.status}\n`);
}

// Without `expect`, which takes a tenth of the time of a call.
function expectEnvelope({ status, text, body }: Received): void {
  const isEnvelope =
    body?.status === (status < 400 ? 'success' : 'error') &&
    typeof body.message === 'string' &&
    'requestID' in body &&
    'data' in body &&
    (status < 400 || typeof body.type === 'string');
  if (!isEnvelope) throw new Error(`The response with status ${status} is not an envelope: ${text}`);
}
