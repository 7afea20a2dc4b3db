import { setTimeout as wait } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';

import { deleteOldEntries } from './core/account/log-retention.ts';
import { forgetOldSpendings } from './core/account/spending.ts';
import { issueDocuments } from './core/accounting/invoice-document/issue.ts';
import { runScheduledJobs } from './core/jobs/run-jobs.ts';
import type { JobRound } from './core/jobs/run-jobs.ts';
import type { VmIdentifiers } from './core/vm/identifier.ts';
import { deliveries } from './deliveries.ts';
import { createClockCheck, DEFAULT_MAX_JUMP_MS, DEFAULT_MAX_SKEW_MS } from './delivery/clock-check.ts';
import type { ClockLimits } from './delivery/clock-check.ts';
import { DEFAULT_LEASE_MS, joinCluster } from './delivery/instance.ts';
import { recoverDeliveries } from './delivery/recover.ts';
import type { Runtime } from './delivery/runtime.ts';
import { VM_IDENTIFIERS } from './generated/facts.gen.ts';
import { createApplication } from './http/application.ts';
import { createAuthenticator } from './http/authenticate.ts';
import type { HttpContext } from './http/context.ts';
import { CONTROLS_TTL_MS, createControls } from './http/controls.ts';
import type { Docs } from './http/docs.ts';
import { createFailedAuthentications } from './http/failed-authentications.ts';
import type { FailedAuthentications } from './http/failed-authentications.ts';
import { createKeyUse } from './http/key-use.ts';
import { createMetrics, observeRuntime } from './http/metrics.ts';
import { createOperatorApplication } from './http/operator/application.ts';
import type { ConsoleSite } from './http/operator/console.ts';
import { createSignInCodes } from './http/operator/session.ts';
import { createRefusedRequests } from './http/refused-requests.ts';
import { listeningUrl } from './http/server.ts';
import { deleteOldRecords } from './operator/access/audit-retention.ts';
import { forgetOldAttempts } from './operator/otp/verify.ts';
import { systemClock } from './ports/clock.ts';
import type { Clock } from './ports/clock.ts';
import type { Ports } from './ports/ports.ts';
import { DEFAULT_PORT_TIMEOUT_MS, withTimeouts } from './ports/timeout.ts';
import { forgetOldKeys } from './reseller/idempotency.ts';
import type { Mode } from './rules/credentials.ts';
import { publicUrlOf } from './rules/document-link.ts';
import { offsetClock } from './sandbox/offset-clock.ts';
import { oneAtATime } from './sandbox/sandbox.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { assertIdentity } from './store/identity.ts';
import { readSettings } from './store/settings.ts';
import type { Db, Store } from './store/store.ts';

export interface ServiceOptions {
  readonly store: Store;
  readonly ports: Ports;
  /** Whether `ports` only simulate the infrastructure. `/readyz` shows it. Default: false. */
  readonly isSimulated?: boolean;
  /** At least 32 characters, and not in the store. One-time codes are hashed with it. */
  readonly secret: string;
  /** A second secret that is accepted while `secret` is rotated. New values use `secret`. */
  readonly previousSecret?: string | undefined;
  /**
   * Base URL of links in responses, such as https://api.example.com. Default: the address that the service listens on. The Host header
   * of a request is never used, because a client can send any value.
   */
  readonly publicUrl?: string;
  /** The minimum number of days for which a link to an invoice document is valid. Default: 30. */
  readonly invoiceLinkDays?: number;
  /** Default: sandbox. The clock of a sandbox can be advanced beyond the one in `ports`. */
  readonly mode?: Mode;
  /** Bearer token of the operator API, at least 32 characters. Without it, the operator API admits only verifiers. */
  readonly operatorToken?: string;
  /**
   * Whether the reseller API has the extension: operations that the specification names but does not show. Default: only in a sandbox. The
   * operator of a live service decides whether resellers may stop, change and delete what they bought.
   */
  readonly extension?: boolean;
  /**
   * IP addresses and CIDR networks of proxies. The client address of their requests, for limits, logs and the audit, is the one in
   * X-Forwarded-For. Default: none.
   */
  readonly trustedProxies?: readonly string[];
  /**
   * Names of hosts that a sandbox takes in the Host header, in addition to localhost, IP addresses and the names of its URLs. It refuses
   * others, so that no page in a browser can read its responses under a name of its own. Default: none.
   */
  readonly allowedHosts?: readonly string[];
  /** Where to report vulnerabilities, a URL such as mailto:security@example.com. Both ports serve it as /.well-known/security.txt. */
  readonly securityContact?: string | undefined;
  /** The built documentation, served at /docs. */
  readonly docs?: Docs;
  /** The built console, served at /console/ of the operator API. */
  readonly console?: ConsoleSite;
  /**
   * Milliseconds. An instance that has not renewed its lease for this time counts as dead, and other instances recover its deliveries.
   * Default: 15 seconds.
   */
  readonly lease?: number;
  /**
   * Milliseconds after which a call of the hypervisor, the fleet or the registrar counts as failed. Its caller waits at most twice as long,
   * because another call then undoes or finishes the change. Default: 30 seconds.
   */
  readonly portTimeout?: number;
  /**
   * How far the clock may be off before the service stops billing and responds 503. Default for the clock of the machine: 5 seconds from the
   * clock of a shared database, and 48 hours after the newest time in the embedded store of a live service. Other clocks have no limit.
   */
  readonly clockLimits?: Partial<ClockLimits>;
  /** The identifiers that new VMs may get. Default: all five-digit numbers. */
  readonly vmIdentifiers?: VmIdentifiers;
  /**
   * Called when a newer version has upgraded the shared database and one lease has passed. The process should then stop, and be started
   * again with that version.
   */
  readonly onOutdated?: () => void;
  /** The number of lines that the logger has lost so far, for the metrics. */
  readonly lostLogLines?: () => number;
  readonly logger: Logger;
}

export interface Service {
  /** The reseller API. It does not listen yet. */
  readonly app: FastifyInstance;
  /** The operator API, probes and metrics. It does not listen yet. Resellers must not be able to reach it. */
  readonly operator: FastifyInstance;
  /** A new one-time code with which a browser signs in to the console as the holder of the first operator token. */
  createSignInCode(): string;
  /** How many seconds the clock of a sandbox is ahead of the one in `ports`. */
  clockAdvance(): Promise<number>;
  /**
   * Performs all due jobs (period ends, set-ups, renewals, ends) and delivers the changes that they enqueue.
   *
   * @returns The number of jobs performed.
   */
  runScheduledJobs(): Promise<number>;
  /** After this call, readiness responds 503 and every response closes its connection, so that load balancers send no more requests. */
  announceStop(): void;
  /** Completes the current requests. The store stays open. */
  close(): Promise<void>;
}

/**
 * Creates the service. The deliveries of earlier processes are settled first.
 *
 * @throws TypeError if the secret or the operator token is too short, or the public URL is not valid.
 * @throws RangeError if `portTimeout` is too long for a timer.
 * @throws StoreOpenError if the store was first used with another secret or mode.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  return (await createServiceOnRuntime(options)).service;
}

/** Like `createService`, but also returns the runtime, for tests that call functions of the core directly. */
export async function createServiceOnRuntime(options: ServiceOptions): Promise<{ service: Service; runtime: Runtime }> {
  const { store, secret, previousSecret, logger, mode = 'sandbox', operatorToken, isSimulated = false } = options;
  if (secret.length < 32) throw new TypeError('The secret of the service must have at least 32 characters.');
  if (previousSecret !== undefined && previousSecret.length < 32)
    throw new TypeError('The previous secret of the service must have at least 32 characters.');
  if (operatorToken !== undefined && operatorToken.length < 32) throw new TypeError('The operator token must have at least 32 characters.');
  const publicUrl = options.publicUrl === undefined ? undefined : publicUrlOf(options.publicUrl);
  await assertIdentity(store, { secret, previousSecret, mode });
  const clock = offsetClock(options.ports.clock, mode === 'sandbox' ? await store.read(clockOffsetOf) : 0);
  const ports = withTimeouts({ ...options.ports, clock }, options.portTimeout ?? DEFAULT_PORT_TIMEOUT_MS);
  const closing = new AbortController();
  const clockCheck = createClockCheck({
    store,
    clock: clock.base,
    limits: { ...defaultClockLimits(options.ports, mode), ...options.clockLimits },
    onChange: (error) =>
      error
        ? logger.error(`${error.message} Until then, every request gets a 503.`)
        : logger.info('the clock of this machine is right again'),
  });
  const metrics = createMetrics({ lostLogLines: options.lostLogLines });
  const leaseMs = options.lease ?? DEFAULT_LEASE_MS;
  const instance = await joinCluster({
    store,
    clockCheck,
    id: uuidv7({ random: ports.random.bytes(16) }),
    leaseMs,
    onFailure(error) {
      metrics.leaseFailures.inc();
      logger.error({ err: error }, 'this instance could not renew its lease and tries again');
    },
    onOutdated(reason) {
      logger.fatal(reason);
      // The newer version needs some time until it can take requests.
      setTimeout(() => options.onOutdated?.(), leaseMs).unref();
    },
  });
  const runtime: Runtime = {
    store,
    ports,
    secret,
    previousSecret,
    mode,
    invoiceLinkDays: options.invoiceLinkDays ?? DEFAULT_INVOICE_LINK_DAYS,
    vmIdentifiers: { ...(options.vmIdentifiers ?? VM_IDENTIFIERS), drawn: new Set() },
    instance,
    closedPeriods: { month: 0, accounts: new Set() },
    deliveries,
    closing: closing.signal,
    publicUrl: () => publicUrl ?? listeningUrl(app),
  };
  observeRuntime(metrics, runtime);
  const recover = recoveringAndLogging(runtime, logger);
  await recover();
  const failedAuthentications = createFailedAuthentications(store, clock.base, (error) =>
    logger.error({ err: error }, 'failed authentications were not stored; they are stored with the next ones'),
  );
  const authenticator = createAuthenticator(store, {
    mode,
    clock,
    onFailure: (address) => failedAuthentications.note('reseller', address),
  });
  const controls = createControls(store, clock, mode);
  const exclusive = oneAtATime();
  async function now() {
    await controls.refresh();
    await clockCheck.assertRight();
    return clock.now();
  }
  const cleanUp = createCleanUp(store, clock.base, failedAuthentications);
  async function runAllJobs(others: JobRound['others']) {
    await instance.assertAlive();
    const failed = await recover();
    const done = await runScheduledJobs(runtime, { now, others });
    await issueDocuments(store);
    metrics.scheduledJobs.inc(done);
    await store.requestLog.numberAll();
    await keyUse.flush();
    await failedAuthentications.flush();
    await cleanUp(clock.now());
    // Scheduled jobs enqueue calls of the fleet.
    await recover(failed);
    return done;
  }
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
      authenticator.forget();
      if (await instance.hasOthers()) await wait(CONTROLS_TTL_MS + CONTROLS_MARGIN_MS);
    },
  };
  const refusedRequests = createRefusedRequests(store, (error) => logger.error({ err: error }, 'request log not written'));
  const keyUse = createKeyUse(store, clock, (error) => logger.error({ err: error }, 'the last use of API keys was not stored'));
  const signInCodes = createSignInCodes(ports.random);
  const state = { isStopping: false };
  const context: HttpContext = {
    runtime,
    assertClockRight: () => clockCheck.assertRight(),
    isStopping: () => state.isStopping,
    sandbox,
    authenticate: authenticator.authenticate,
    controls,
    keyUse,
    failedAuthentications,
    refusedRequests,
    operatorToken,
    signInCodes,
    operatorUrl: () => (operator.addresses().length > 0 ? operator.listeningOrigin : undefined),
    docs: options.docs,
    console: options.console,
    hasExtension: options.extension ?? mode === 'sandbox',
    allowedHosts: (options.allowedHosts ?? []).map((name) => name.toLowerCase()),
    securityContact: options.securityContact,
    trustedProxies: options.trustedProxies ?? [],
    isSimulated,
    metrics,
    logger,
  };
  const app = await createApplication(context);
  const operator = await createOperatorApplication(context);
  app.addHook('onClose', () => refusedRequests.flush());
  app.addHook('onClose', () => keyUse.close());
  operator.addHook('onClose', () => failedAuthentications.close());
  app.addHook('onClose', () =>
    instance
      .leave()
      .catch((error: unknown) =>
        logger.error({ err: error }, 'this instance could not release its lease, so the lease stays until it expires'),
      ),
  );
  const service: Service = {
    app,
    operator,
    createSignInCode: () => signInCodes.issue(),
    async clockAdvance() {
      await controls.refresh();
      return Math.floor(clock.offset / 1000);
    },
    async runScheduledJobs() {
      try {
        return await exclusive(() => runAllJobs('skip'));
      } catch (error) {
        metrics.scheduledJobFailures.inc();
        throw error;
      }
    },
    announceStop() {
      state.isStopping = true;
    },
    async close() {
      state.isStopping = true;
      closing.abort();
      await Promise.all([app.close(), operator.close()]);
    },
  };
  return { service, runtime };
}

const DEFAULT_INVOICE_LINK_DAYS = 30;
/** Tests set their own clocks. A sandbox sends no real invoices, and may be stopped for weeks. */
function defaultClockLimits({ clock }: Ports, mode: Mode): ClockLimits {
  const isReal = clock === systemClock;
  return {
    maxSkewMs: isReal ? DEFAULT_MAX_SKEW_MS : Infinity,
    maxJumpMs: isReal && mode === 'live' ? DEFAULT_MAX_JUMP_MS : Infinity,
    confirmedUntilMs: -Infinity,
  };
}

/** The time that another instance may need to read the settings again. */
const CONTROLS_MARGIN_MS = 250;
const CLEAN_UP_INTERVAL_MS = 60_000;

/** Deletes old Idempotency-Keys, attempts, counters, log entries and audit records, at most once per interval. */
function createCleanUp(store: Store, machine: Clock, failedAuthentications: FailedAuthentications): (now: number) => Promise<void> {
  let last = -Infinity;
  return async (now) => {
    if (performance.now() - last < CLEAN_UP_INTERVAL_MS) return;
    await forgetOldKeys(store, now);
    await forgetOldAttempts(store, now);
    await store.sharing.windows.deleteExpired();
    await deleteOldEntries(store, now);
    await store.commit(({ db }) => forgetOldSpendings(db, now));
    await deleteOldRecords(store, machine.now());
    await failedAuthentications.deleteOld();
    last = performance.now();
  };
}

/** Settles interrupted and enqueued deliveries, logs each failure once, and returns the reservations that failed. */
function recoveringAndLogging(runtime: Runtime, logger: Logger): (skipped?: ReadonlySet<string>) => Promise<ReadonlySet<string>> {
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
  return (await readSettings(db, 'sandbox')).clockOffset;
}
