import { createReseller } from '@reseller/client';
import { createClient } from '@reseller/operator-client';
import { createService, simulatedPorts } from '@reseller/service';
import type { Hypervisor, Random, Registrar, Service, Store } from '@reseller/service';
import { pino } from 'pino';

import { TestClock } from './clock.ts';
import { Faults, meet } from './faults.ts';
import type { TestResellerConfig, TestService, TestServiceOptions } from './service.ts';
import { addAccount, copySnapshot } from './snapshot.ts';

/** A moment in the middle of a month of 30 days. */
const START = Date.UTC(2026, 10, 10, 12, 0, 0);

/** The domain `.test` resolves to no machine: a request that bypasses the `fetch` of the service fails. */
const BASE_URL = 'http://reseller.test';

/** The operator API, likewise. */
const OPERATOR_URL = 'http://operator.test';
const OPERATOR_TOKEN = 'operator-token-of-a-service-for-tests';

/** Options that name types of the service, for tests of this repository. */
export interface InsideOptions extends TestServiceOptions {
  readonly random?: Random;
  readonly hypervisor?: Hypervisor;
  /** Makes the registrar from the simulated one. */
  readonly registrar?: (simulated: Registrar) => Registrar;
}

/** A test service with access to what is inside, for tests of this repository. */
export interface ServiceInside extends TestService {
  /** The data of the service: tests read in it what really happened. */
  readonly store: Store;
}

export async function createServiceInside(options: InsideOptions = {}): Promise<ServiceInside> {
  const { now, random, hypervisor, registrar } = options;
  const unknown = Object.keys(options).find((name) => !['now', 'random', 'hypervisor', 'registrar'].includes(name));
  if (unknown !== undefined) throw new TypeError(`createTestService has no option ${unknown}. Its option is now.`);
  const start = now === undefined ? START : Date.parse(now);
  if (!Number.isFinite(start)) throw new TypeError(`now must be an instant such as 2026-11-01T00:00:00Z, got ${JSON.stringify(now)}.`);
  /** Requests that may still be running although their callers gave up. */
  const underWay = new Set<Promise<unknown>>();
  const clock = new TestClock(start, async () => {
    await Promise.allSettled(underWay);
    // Callers handle their responses first.
    await new Promise((resolve) => setImmediate(resolve));
  });
  const { store, apiKey, accountId, close: closeStore } = await copySnapshot();
  const simulated = simulatedPorts({ clock, ...(random && { random }), ...(hypervisor && { hypervisor }) });
  const ports = registrar ? { ...simulated, registrar: registrar(simulated.registrar) } : simulated;
  const {
    app,
    operator,
    runScheduledJobs,
    close: closeApp,
  } = await createService({
    store,
    ports,
    // Its VMs have use and traffic, like those of a sandbox.
    simulated: hypervisor ? [] : ['hypervisor'],
    secret: 'x'.repeat(32),
    operatorToken: OPERATOR_TOKEN,
    logger: pino({ level: 'silent' }),
  });
  const faults = new Faults();

  const send: TestService['fetch'] = async (input, init) => {
    assertRealTimers();
    const request = new Request(input, init);
    if (!request.url.startsWith(`${BASE_URL}/`))
      throw new TypeError('fetch failed', { cause: new Error(`only ${BASE_URL} is served here`) });
    // The request's own signal follows the caller's by a weak reference. Garbage collection may drop it, and an abort would be missed.
    const signal = init?.signal ?? (input instanceof Request ? input.signal : request.signal);
    signal.throwIfAborted();
    const carriedOut = () => {
      const responded = carryOut(app, request);
      underWay.add(responded);
      return responded.finally(() => underWay.delete(responded));
    };
    return untilAborted(meet(faults.take(new URL(request.url).pathname), carriedOut, clock, signal), signal);
  };

  const close = async () => {
    await Promise.allSettled(underWay);
    await closeApp();
    await closeStore();
    const unmet = faults.unmet();
    if (unmet.length > 0)
      throw new Error(`No request met these faults: ${unmet.join(', ')}. Is the path right? faults.clear() removes them.`);
  };
  const sendToOperator = (input: string | URL | Request, init?: RequestInit) => carryOut(operator, new Request(input, init));
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
      fetch: sendToOperator,
    }),
    store,
    reseller: (config?: TestResellerConfig) => createReseller({ apiKey, fetch: send, clock, ...config, baseUrl: BASE_URL }),
    async operate(method, path, body) {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, ...(body && { 'content-type': 'application/json' }) };
      const response = await sendToOperator(OPERATOR_URL + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      const text = await response.text();
      const json: unknown = text === '' ? undefined : JSON.parse(text);
      if (!response.ok) throw new Error(`${method} ${path} was refused with ${response.status}: ${text}`);
      return json;
    },
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

/** @throws Error when fake timers would keep the service from responding. */
function assertRealTimers(): void {
  const faked = [setImmediate, queueMicrotask, process.nextTick].find((timer) => 'clock' in timer);
  if (!faked) return;
  throw new Error(
    'Fake timers have replaced setImmediate, queueMicrotask or process.nextTick, and the service cannot respond. Fake only Date and setTimeout, or use the clock of the service: advance(ms).',
  );
}

async function carryOut(app: Service['app'], request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const injected = await app.inject({
    method: methodOf(request.method),
    url: pathname + search,
    headers: Object.fromEntries(request.headers),
    ...(request.body && { payload: Buffer.from(await request.arrayBuffer()) }),
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(injected.headers)) headers.set(name, String(value));
  // A status that has no body takes none, not even an empty one.
  const body = injected.rawPayload.length > 0 ? new Uint8Array(injected.rawPayload) : null;
  return new Response(body, { status: injected.statusCode, headers });
}

const METHODS = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT', 'OPTIONS'] as const;

function methodOf(method: string): (typeof METHODS)[number] {
  const known = METHODS.find((name) => name === method);
  if (!known) throw new TypeError(`'${method}' is not served here.`);
  return known;
}

/** Rejects as soon as the signal is aborted. The request that was sent continues. */
function untilAborted(responded: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    responded.then(resolve, reject);
  });
}
