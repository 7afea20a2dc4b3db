import { setTimeout as wait } from 'node:timers/promises';

import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { v7 as uuidv7 } from 'uuid';

import { fleetRecoveries } from './core/dedicated/fleet.ts';
import { domainCommands, domainRecoveries } from './core/domain/terminate.ts';
import type { DomainCommands } from './core/domain/terminate.ts';
import { vmCommands, vmRecoveries } from './core/vm/commands.ts';
import type { VmCommands } from './core/vm/commands.ts';
import type { Recover } from './delivery/delivery.ts';
import { DEFAULT_LEASE_MS, joinCluster } from './delivery/instance.ts';
import { recoverDeliveries } from './delivery/recover.ts';
import type { Runtime } from './delivery/runtime.ts';
import { VM_IDENTIFIERS } from './generated/facts.gen.ts';
import { apiKeyHeader } from './http/api.ts';
import { createApplication } from './http/application.ts';
import { authentication } from './http/authenticate.ts';
import { controlsOf, HOLDS } from './http/controls.ts';
import type { Docs } from './http/docs.ts';
import { publicUrlFrom } from './http/invoice-document.ts';
import { createMetrics } from './http/observability.ts';
import { createOperatorApplication } from './http/operator-application.ts';
import { documentationAt } from './http/root.ts';
import { runScheduledJobs } from './core/jobs/run-jobs.ts';
import type { DueWorkParts } from './core/jobs/run-jobs.ts';
import { forgetOldKeys } from './reseller/idempotency.ts';
import { operations } from './reseller/table.ts';
import type { VmIdentifiers } from './core/vm/identifier.ts';
import { forgetOldAttempts } from './operator/otp/verify.ts';
import { oneAtATime } from './sandbox/sandbox.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { offsetClock } from './sandbox/offset-clock.ts';
import type { Ports } from './ports/ports.ts';
import { DEFAULT_PORT_TIMEOUT_MS, withTimeouts } from './ports/timeout.ts';
import type { Mode } from './rules/credentials.ts';
import { publicUrlOf } from './rules/document-link.ts';
import { assertIdentity } from './store/identity.ts';
import { readSettings } from './store/settings.ts';
import type { Db, Store } from './store/store.ts';

/** What a service is made of. */
export interface ServiceParts {
  readonly store: Store;
  readonly ports: Ports;
  /** Whether `ports` only simulate the infrastructure, which `/readyz` says then. False unless given. */
  readonly isSimulated?: boolean;
  /** Known to the service alone and not in the store: one-time codes are hashed with it. At least 32 characters. */
  readonly secret: string;
  /**
   * URL at which callers reach the service, such as https://api.example.com: links in answers begin
   * with it. Left out, they begin with the address that the service listens on; what a request
   * calls the service (its Host header) is never believed.
   */
  readonly publicUrl?: string;
  /** What the service is; a sandbox where nothing is said. A sandbox's clock can be advanced beyond that of `ports`. */
  readonly mode?: Mode;
  /** Bearer token of the operator API, at least 32 characters; where none is given, nobody is let in but third parties. */
  readonly operatorToken?: string;
  /**
   * Whether the reseller API understands what existing clients of such APIs send beside the rules
   * of the document (JSON bodies, closing slashes, bearer tokens, other words for booleans), naming
   * in each answer what the request deviated in. False unless given: it is refused then.
   */
  readonly lenient?: boolean;
  /** The built documentation, served at /docs. */
  readonly docs?: Docs;
  /**
   * Milliseconds after which this service counts as dead where it is heard of no more, and others
   * on the same database undo what it left half-done; 15 seconds where nothing is said.
   */
  readonly lease?: number;
  /**
   * Milliseconds that a call of the hypervisor, the fleet or the registrar may take, 30 seconds where
   * nothing is said; one that takes longer counts as failed. Those who wait for it wait twice that at
   * the most: what it may have done is taken back, or finished, by another call.
   */
  readonly portTimeout?: number;
  /** What new VMs are given identifiers from: all five-digit numbers where nothing is said. Fewer of them let a test run out. */
  readonly vmIdentifiers?: VmIdentifiers;
  /** Where the service logs to, in the manner of pino. */
  readonly logger: FastifyBaseLogger;
}

/** A service over a store. */
export interface Service {
  /** The reseller API, ready to listen or to be injected into. */
  readonly app: FastifyInstance;
  /** What the provider does with VMs; the operator API does it by these. */
  readonly vms: VmCommands;
  /** What the provider does with domains, likewise. */
  readonly domains: DomainCommands;
  /** What is for the provider alone: the operator API, probes and metrics. Listens, if at all, where resellers cannot reach it. */
  readonly operator: FastifyInstance;
  /** How many seconds the clock of a sandbox is ahead of the one in `ports`. */
  clockAdvance(): Promise<number>;
  /**
   * Does all that has fallen due by the clock (period ends, set-ups, renewals, ends) and tells the
   * infrastructure what follows from it.
   *
   * @returns How many things were done.
   */
  runScheduledJobs(): Promise<number>;
  /** Finishes what is under way. The store stays open. */
  close(): Promise<void>;
}

/**
 * The Reseller Infrastructure Service over a store. What an earlier process left half-done is undone first.
 *
 * @throws TypeError when the secret or the operator token is too short or the public URL is none.
 * @throws RangeError for a `portTimeout` that no timer can keep.
 * @throws StoreOpenError when the store was first used with another secret or mode.
 */
export async function createService(parts: ServiceParts): Promise<Service> {
  const { store, secret, logger, mode = 'sandbox', operatorToken, lenient = false, isSimulated = false } = parts;
  if (secret.length < 32) throw new TypeError('The secret of the service must have at least 32 characters.');
  if (operatorToken !== undefined && operatorToken.length < 32) throw new TypeError('The operator token must have at least 32 characters.');
  const publicUrl = parts.publicUrl === undefined ? undefined : publicUrlOf(parts.publicUrl);
  await assertIdentity(store, { secret, mode });
  const clock = offsetClock(parts.ports.clock, mode === 'sandbox' ? await store.read(clockOffsetOf) : 0);
  const ports = withTimeouts({ ...parts.ports, clock }, parts.portTimeout ?? DEFAULT_PORT_TIMEOUT_MS);
  const closing = new AbortController();
  const instance = await joinCluster({
    store,
    id: uuidv7({ random: ports.random.bytes(16) }),
    leaseMs: parts.lease ?? DEFAULT_LEASE_MS,
    onFailure: (error) => logger.error({ err: error }, 'the lease of this instance could not be renewed; it is tried again'),
  });
  const runtime: Runtime = { store, ports, secret, instance, deliveries, closing: closing.signal };
  const recover = recoveringAndLogging(runtime, logger);
  await recover();
  const vms = vmCommands(runtime);
  const domains = domainCommands(runtime);
  const metrics = createMetrics();
  const { authenticate, forget } = authentication(store, { header: apiKeyHeader, mode, clock });
  const controls = controlsOf(store, clock, mode);
  const exclusive = oneAtATime();
  const now = async () => {
    await controls.refresh();
    return clock.now();
  };
  const upkeep = upkeepOf(store);
  const runAllJobs = async (others: DueWorkParts['others']) => {
    await instance.assertAlive();
    const failed = await recover();
    const done = await runScheduledJobs({ store, ports, secret, now, others });
    await upkeep(clock.now());
    // Scheduled jobs enqueue calls of the fleet.
    await recover(failed);
    return done;
  };
  const sandbox: Sandbox = {
    clock,
    exclusive,
    runAllJobs: () => runAllJobs('wait'),
    async recoverDeliveries() {
      await recover();
    },
    refresh() {
      controls.forget();
      return controls.refresh();
    },
    async propagate() {
      controls.forget();
      forget();
      if (await instance.hasOthers()) await wait(HOLDS + MARGIN);
    },
  };
  const app = await createApplication({
    ...runtime,
    table: operations,
    vmIdentifiers: parts.vmIdentifiers ?? VM_IDENTIFIERS,
    publicUrl,
    docs: parts.docs,
    mode,
    operatorUrl: () => (operator.addresses().length > 0 ? operator.listeningOrigin : undefined),
    lenient,
    authenticate,
    controls,
    metrics,
    isSimulated,
    logger,
  });
  app.addHook('onClose', () =>
    instance
      .leave()
      .catch((error: unknown) => logger.error({ err: error }, 'this instance could not give up its lease, which expires by itself')),
  );
  const operator = createOperatorApplication({
    store,
    ports,
    secret,
    mode,
    vms,
    domains,
    sandbox,
    operatorToken,
    metrics,
    isSimulated,
    documentation: parts.docs === undefined ? undefined : () => documentationAt(`${publicUrlFrom({ publicUrl }, app)}/docs/`, 'operator'),
    logger,
  });
  return {
    app,
    operator,
    vms,
    domains,
    async clockAdvance() {
      await now();
      return Math.floor(clock.offset / 1000);
    },
    runScheduledJobs: () => exclusive(() => runAllJobs('skip')),
    async close() {
      closing.abort();
      await Promise.all([app.close(), operator.close()]);
    },
  };
}

/** Milliseconds that it takes another node to read what it has let go of. */
const MARGIN = 250;
/** Milliseconds after which what is of no use any more is looked for again. */
const UPKEEP_EVERY = 60_000;

/** Forgets old Idempotency-Keys and windows of counters, now and then. */
function upkeepOf(store: Store): (now: number) => Promise<void> {
  let last = -Infinity;
  return async (now) => {
    if (performance.now() - last < UPKEEP_EVERY) return;
    await forgetOldKeys(store, now);
    await forgetOldAttempts(store, now);
    await store.sharing.windows.forget();
    last = performance.now();
  };
}

/** Every delivery that may have a reservation in the store. */
const deliveries: Readonly<Record<string, Recover>> = {
  ...Object.fromEntries(Object.entries(operations).flatMap(([id, one]) => (one.kind === 'delivered' ? [[id, one.recover]] : []))),
  ...vmRecoveries,
  ...domainRecoveries,
  ...fleetRecoveries,
};

/** Settles interrupted and enqueued deliveries, logs each failure once, and returns the reservations that failed. */
function recoveringAndLogging(
  runtime: Runtime,
  logger: FastifyBaseLogger,
): (skipped?: ReadonlySet<string>) => Promise<ReadonlySet<string>> {
  let logged: ReadonlySet<string> = new Set();
  return async (skipped = new Set()) => {
    const { settled, failures } = await recoverDeliveries(runtime, skipped);
    if (settled > 0) logger.info({ settled }, 'settled interrupted or enqueued deliveries');
    for (const { reservation, error } of failures) {
      if (logged.has(reservation)) continue;
      logger.error({ err: error, reservation }, 'a delivery could not be settled; the service tries again');
    }
    logged = new Set([...skipped, ...failures.map(({ reservation }) => reservation)]);
    return logged;
  };
}

async function clockOffsetOf(db: Db): Promise<number> {
  return (await readSettings(db)).clockOffset;
}
