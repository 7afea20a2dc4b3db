import { createReseller } from '@reseller/client';
import type { Reseller, ResellerConfig } from '@reseller/client';
import { createClient } from '@reseller/operator-client';
import type { Client as OperatorClient } from '@reseller/operator-client';
import { createService, simulatedPorts } from '@reseller/service';
import type { Hypervisor, Random, Service, ServiceParts, Store } from '@reseller/service';
import { pino } from 'pino';

import { TestClock } from './clock.ts';
import { Faults, meet } from './faults.ts';
import { addAccount, copySnapshot } from './snapshot.ts';

/** A moment in the middle of a month of 30 days. */
const START = Date.UTC(2026, 10, 10, 12, 0, 0);

/** No machine is called so: what is sent here and does not go through the service's own `fetch` fails. */
const BASE_URL = 'http://reseller.test';

/** Where the provider's side is, likewise. */
const OPERATOR_URL = 'http://operator.test';
const OPERATOR_TOKEN = 'operator-token-of-a-service-for-tests';

/** How a service for one test is made. */
export interface TestServiceOptions extends Pick<ServiceParts, 'lenient'> {
  /** Where its clock stands at first, ISO 8601. */
  readonly now?: string;
  readonly random?: Random;
  readonly hypervisor?: Hypervisor;
}

export interface TestAccount {
  readonly id: string;
  readonly apiKey: string;
}

/** The real service in the memory of one test. */
export interface TestService {
  /** In place of the global `fetch`: what is sent to `baseUrl` reaches the service, without a network. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  readonly baseUrl: string;
  /** Key of the demo account, which has a credit limit of 1,000 EUR. */
  readonly apiKey: string;
  readonly accountId: string;
  readonly clock: TestClock;
  readonly faults: Faults;
  /**
   * For the functions of `@reseller/operator-client`: what the provider does by hand, such as terminating a domain. To advance time, use `advance` instead, by which the clients of this service go too.
   */
  readonly operator: OperatorClient;
  /** What the service keeps: a test may read in it what really happened. */
  readonly store: Store;
  /** A client of this service, going by its clock. */
  reseller(config?: Partial<Omit<ResellerConfig, 'baseUrl' | 'environment'>>): Reseller;
  /** A further account. */
  addAccount(creditLimit?: string): Promise<TestAccount>;
  /** Turns the clock and does all that falls due. */
  advance(milliseconds: number): Promise<void>;
  /** The service on a socket of this machine, for what needs one. @returns Its base address. */
  listen(): Promise<string>;
  /** Ends the service and removes what it kept. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The service, seeded as the sandbox is, in the memory of a test. The first one of a process takes about as long as
 * seeding does, the others milliseconds.
 */
export async function createTestService({ now, random, hypervisor, lenient = false }: TestServiceOptions = {}): Promise<TestService> {
  const clock = new TestClock(now === undefined ? START : Date.parse(now));
  const { store, apiKey, accountId, close: closeStore } = await copySnapshot();
  const ports = simulatedPorts({ clock, ...(random && { random }), ...(hypervisor && { hypervisor }) });
  const {
    app,
    operator,
    runScheduledJobs,
    close: closeApp,
  } = await createService({
    store,
    ports,
    secret: 'x'.repeat(32),
    operatorToken: OPERATOR_TOKEN,
    lenient,
    logger: pino({ level: 'silent' }),
  });
  const faults = new Faults();
  /** What was sent and may still be under way although its caller gave up. */
  const underWay = new Set<Promise<unknown>>();

  const send: TestService['fetch'] = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.startsWith(`${BASE_URL}/`))
      throw new TypeError('fetch failed', { cause: new Error(`only ${BASE_URL} is served here`) });
    // The request's own signal follows the caller's by a weak reference: garbage collection ends that, and an abort would go unheard.
    const signal = init?.signal ?? (input instanceof Request ? input.signal : request.signal);
    signal.throwIfAborted();
    const carriedOut = () => {
      const answered = carryOut(app, request);
      underWay.add(answered);
      return answered.finally(() => underWay.delete(answered));
    };
    return untilAborted(meet(faults.take(new URL(request.url).pathname), carriedOut, signal), signal);
  };

  const close = async () => {
    await Promise.allSettled(underWay);
    await closeApp();
    await closeStore();
  };
  return {
    fetch: send,
    baseUrl: BASE_URL,
    apiKey,
    accountId,
    clock,
    faults,
    operator: createClient({
      baseUrl: OPERATOR_URL,
      token: OPERATOR_TOKEN,
      fetch: (input, init) => carryOut(operator, new Request(input, init)),
    }),
    store,
    reseller: (config) => createReseller({ apiKey, fetch: send, clock, ...config, baseUrl: BASE_URL }),
    addAccount: (creditLimit = '1000.00') => addAccount(store, clock.now(), creditLimit),
    async advance(milliseconds) {
      clock.advance(milliseconds);
      await runScheduledJobs();
    },
    listen: () => app.listen({ host: '127.0.0.1', port: 0 }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function carryOut(app: Service['app'], request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const answer = await app.inject({
    method: methodOf(request.method),
    url: pathname + search,
    headers: Object.fromEntries(request.headers),
    ...(request.body && { payload: Buffer.from(await request.arrayBuffer()) }),
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) headers.set(name, String(value));
  // A status that has no body takes none, not even an empty one.
  const body = answer.rawPayload.length > 0 ? new Uint8Array(answer.rawPayload) : null;
  return new Response(body, { status: answer.statusCode, headers });
}

const METHODS = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT', 'OPTIONS'] as const;

function methodOf(method: string): (typeof METHODS)[number] {
  const known = METHODS.find((name) => name === method);
  if (!known) throw new TypeError(`'${method}' is not served here.`);
  return known;
}

/** Rejects as soon as the signal is aborted; what was sent goes on. */
function untilAborted(answered: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    answered.then(resolve, reject);
  });
}
