import { v7 as uuidv7 } from 'uuid';

import { deliveries } from './deliveries.ts';
import { createClockCheck, DEFAULT_MAX_JUMP_MS, DEFAULT_MAX_SKEW_MS } from './delivery/clock-check.ts';
import type { ClockCheck, ClockLimits } from './delivery/clock-check.ts';
import { DEFAULT_LEASE_MS, joinCluster } from './delivery/instance.ts';
import type { Instance } from './delivery/instance.ts';
import type { Runtime } from './delivery/runtime.ts';
import { VM_IDENTIFIERS } from './generated/facts.gen.ts';
import { createMetrics, observeRuntime } from './http/shared/metrics.ts';
import type { Metrics } from './http/shared/metrics.ts';
import type { Ports } from './ports/ports.ts';
import { offsetClock, systemClock } from './ports/system.ts';
import type { OffsetClock } from './ports/system.ts';
import { DEFAULT_PORT_TIMEOUT_MS, withTimeouts } from './ports/timeout.ts';
import type { Mode } from './rules/mode.ts';
import { publicUrlOf } from './rules/public-url.ts';
import { DEFAULT_CONSOLE_LIMITS } from './rules/vm-console.ts';
import { withDelays } from './sandbox/delays.ts';
import { withSimulatedInventory } from './sandbox/simulated-inventory.ts';
import { withSimulatedUsage } from './sandbox/simulated-usage.ts';
import type { ServiceOptions } from './service-options.ts';
import { assertIdentity } from './store/identity.ts';
import { readSettings } from './store/settings.ts';
import type { Db } from './store/store.ts';

const DEFAULT_INVOICE_LINK_DAYS = 30;
const MIN_SECRET_LENGTH = 32;

/** The runtime of a process, with the parts that only the service uses. */
export interface StartedRuntime {
  readonly runtime: Runtime;
  readonly clock: OffsetClock;
  readonly clockCheck: ClockCheck;
  readonly metrics: Metrics;
  /** Starts no new work. */
  close(): void;
}

/** Where the service listens, once it does. */
export interface Listening {
  url(): string;
  addresses(): readonly string[];
}

/**
 * Joins the instances on the store.
 *
 * @param listening Where the service listens.
 */
export async function startRuntime(options: ServiceOptions, listening: Listening): Promise<StartedRuntime> {
  const { store, secret, previousSecret, mode = 'sandbox' } = options;
  assertSecrets(options);
  const publicUrl = options.publicUrl === undefined ? undefined : publicUrlOf(options.publicUrl);
  await assertIdentity(store, { secret, previousSecret, mode });
  const clock = offsetClock(options.ports.clock, mode === 'sandbox' ? await store.read(clockOffsetOf) : 0);
  const portTimeoutMs = options.portTimeout ?? DEFAULT_PORT_TIMEOUT_MS;
  const ports = withTimeouts(withDelays({ ...simulationOf(options, clock), clock }, options.delays), portTimeoutMs);
  const closing = new AbortController();
  const clockCheck = clockCheckOf(options, clock, mode);
  const metrics = createMetrics({ lostLogLines: options.lostLogLines });
  const runtime: Runtime = {
    store,
    ports,
    secret,
    previousSecret,
    mode,
    hasExtension: options.extension ?? mode === 'sandbox',
    invoiceLinkDays: options.invoiceLinkDays ?? DEFAULT_INVOICE_LINK_DAYS,
    consoleLimits: { ...DEFAULT_CONSOLE_LIMITS, ...options.consoleLimits },
    portTimeoutMs,
    vmIdentifiers: options.vmIdentifiers ?? VM_IDENTIFIERS,
    instance: await join(options, ports, { clockCheck, metrics }),
    deliveries,
    ownQueues: options.ownQueues ?? {},
    closing: closing.signal,
    publicUrl: () => publicUrl ?? listening.url(),
    listeningAddresses: listening.addresses,
  };
  observeRuntime(metrics, runtime);
  return { runtime, clock, clockCheck, metrics, close: () => closing.abort() };
}

function simulationOf({ ports, simulated = [], store }: ServiceOptions, clock: OffsetClock): Ports {
  if (!simulated.includes('hypervisor')) return ports;
  return { ...ports, hypervisor: withSimulatedUsage(withSimulatedInventory(ports.hypervisor, store), store, clock) };
}

function assertSecrets({ secret, previousSecret = secret, operatorToken = secret }: ServiceOptions): void {
  for (const [name, text] of [
    ['secret of the service', secret],
    ['previous secret of the service', previousSecret],
    ['operator token', operatorToken],
  ] as const)
    if (text.length < MIN_SECRET_LENGTH) throw new TypeError(`The ${name} must have at least ${MIN_SECRET_LENGTH} characters.`);
}

function clockCheckOf({ store, ports, clockLimits, logger }: ServiceOptions, clock: OffsetClock, mode: Mode): ClockCheck {
  return createClockCheck({
    store,
    clock: clock.base,
    limits: { ...defaultClockLimits(ports, mode), ...clockLimits },
    onChange: (error) =>
      error
        ? logger.error(`${error.message} Until then, every request gets a 503.`)
        : logger.info('the clock of this machine is right again'),
  });
}

function join(
  { store, lease: leaseMs = DEFAULT_LEASE_MS, onOutdated, logger }: ServiceOptions,
  { random }: Ports,
  { clockCheck, metrics }: Pick<StartedRuntime, 'clockCheck' | 'metrics'>,
): Promise<Instance> {
  return joinCluster({
    store,
    clockCheck,
    id: uuidv7({ random: random.bytes(16) }),
    leaseMs,
    onFailure(error) {
      metrics.leaseFailures.inc();
      logger.error({ err: error }, 'this instance could not renew its lease and tries again');
    },
    onOutdated(reason) {
      logger.fatal(reason);
      // A load balancer needs some time until it sends requests to the newer instance.
      setTimeout(() => onOutdated?.(), leaseMs).unref();
    },
  });
}

/** Tests set their own clocks. A sandbox sends no real invoices, and may be stopped for weeks. */
function defaultClockLimits({ clock }: Ports, mode: Mode): ClockLimits {
  const isReal = clock === systemClock;
  return {
    maxSkewMs: isReal ? DEFAULT_MAX_SKEW_MS : Infinity,
    maxJumpMs: isReal && mode === 'live' ? DEFAULT_MAX_JUMP_MS : Infinity,
    confirmedUntilMs: -Infinity,
  };
}

async function clockOffsetOf(db: Db): Promise<number> {
  return (await readSettings(db, 'sandbox')).clockOffset;
}
