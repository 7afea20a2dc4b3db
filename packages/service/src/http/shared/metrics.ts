/** Metrics for Prometheus. Labels have few values, so they contain no accounts, keys or addresses. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { FastifyRequest } from 'fastify';

import manifest from '../../../package.json' with { type: 'json' };
import { queuesOf } from '../../core/queues.ts';
import type { QueueState } from '../../core/queues.ts';
import { ClockError } from '../../delivery/clock-check.ts';
import { InfrastructureError } from '../../delivery/deliver.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { originOf } from '../../ports/outage.ts';
import type { SimulatedPort } from '../../ports/ports.ts';
import { migrationsOf } from '../../store/migrations/all.ts';
import { StoreUnavailableError } from '../../store/store.ts';
import type { Db, PoolFigures } from '../../store/store.ts';
import { boundedReads } from './bounded-reads.ts';
import type { Readiness } from './observability.ts';

export type Api = 'reseller' | 'operator';
type Cause = 'store' | 'infrastructure' | 'clock' | 'other';

export interface Metrics {
  readonly registry: Registry;
  /** Duration of requests in seconds, by operation, status, and the system whose adapter failed. */
  readonly requests: Histogram<'operation' | 'status' | 'system'>;
  readonly unavailable: Counter<'api' | 'cause' | 'system'>;
  readonly authenticationFailures: Counter<'api'>;
  readonly scheduledJobs: Counter;
  readonly scheduledJobFailures: Counter;
  readonly leaseFailures: Counter;
}

let ofProcess: Registry | undefined;

/** The metrics of the process. All services in it share them, because their observers and timers never stop. */
function metricsOfProcess(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

/** @param sources Figures that are read when the metrics are. */
export function createMetrics({ lostLogLines }: { readonly lostLogLines: (() => number) | undefined }): Metrics {
  const registry = Registry.merge([metricsOfProcess()]);
  const registers = [registry];
  function counter(name: string, help: string) {
    return new Counter({ name, help, registers });
  }
  if (lostLogLines) {
    const lost = new Counter({
      name: 'reseller_log_lines_lost_total',
      help: 'Lines of the log that were lost, because standard error was not read in time.',
      registers: [],
      collect() {
        this.reset();
        this.inc(lostLogLines());
      },
    });
    registry.registerMetric(lost);
  }
  return {
    registry,
    requests: new Histogram({
      name: 'reseller_request_duration_seconds',
      help: 'Time from the arrival of a request until its response was sent. A 500 for an error of an adapter has the label system.',
      labelNames: ['operation', 'status', 'system'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    unavailable: new Counter({
      name: 'reseller_unavailable_total',
      help: 'Requests that got a 503, or a 500 for an error of an adapter, by API, cause, and system if the infrastructure failed.',
      labelNames: ['api', 'cause', 'system'],
      registers,
    }),
    authenticationFailures: new Counter({
      name: 'reseller_authentication_failures_total',
      help: 'Requests without a valid API key or token, by API.',
      labelNames: ['api'],
      registers,
    }),
    scheduledJobs: counter('reseller_scheduled_jobs_total', 'Scheduled jobs that this instance performed.'),
    scheduledJobFailures: counter(
      'reseller_scheduled_job_failures_total',
      'Scheduled jobs, and rounds of them, that failed on this instance.',
    ),
    leaseFailures: counter('reseller_lease_renewal_failures_total', 'Attempts of this instance to renew its lease that failed.'),
  };
}

/** Counts a failed request. */
export function countFailure(
  { unavailable, authenticationFailures }: Metrics,
  request: FastifyRequest,
  { api, status, error }: { readonly api: Api; readonly status: number; readonly error: unknown },
): void {
  if (status === 401) authenticationFailures.inc({ api });
  const isUnexpected = status === 500;
  const system = error instanceof InfrastructureError ? error.system : isUnexpected ? originOf(error) : undefined;
  if (isUnexpected && system !== undefined) failedAdapters.set(request, system);
  if (status === 503 || system !== undefined)
    unavailable.inc({ api, cause: isUnexpected ? 'infrastructure' : causeOf(error), ...(system && { system }) });
}

/** The systems whose adapters failed in a way that is a 500 for these requests. */
export const failedAdapters = new WeakMap<FastifyRequest, SimulatedPort>();

function causeOf(error: unknown): Cause {
  if (error instanceof StoreUnavailableError) return 'store';
  if (error instanceof InfrastructureError) return 'infrastructure';
  return error instanceof ClockError ? 'clock' : 'other';
}

/** Adds the figures of the store and of the queues, which are read at each scrape. A scrape does not wait for a store that is away: they are missing. */
export function observeRuntime({ registry }: Metrics, runtime: Runtime): void {
  const { store, mode } = runtime;
  const registers = [registry];
  const engine = store.sharing.hasInstances ? 'postgres' : 'sqlite';
  new Gauge({
    name: 'reseller_build_info',
    help: 'Version of the service, newest migration, Node, engine of the store and mode. The value is always 1.',
    labelNames: ['version', 'schema', 'node', 'engine', 'mode'],
    registers,
  }).set({ version: manifest.version, schema: Object.keys(migrationsOf(engine)).at(-1) ?? '', node: process.version, engine, mode }, 1);
  const read = boundedReads(() => readFigures(runtime));
  for (const [name, help, choose] of OF_QUEUES) addQueueGauge(registry, { name, help, read, choose });
  for (const [name, help, choose] of OF_STORE) addGauge(registry, { name, help, read, choose });
  addGauge(registry, {
    name: 'reseller_store_disk_free_ratio',
    help: 'The free part of the disk of an embedded store, from 0 to 1.',
    read: boundedReads(async () => store.freeDisk?.()),
    choose: Number,
  });
  for (const [name, help, choose] of OF_POOL) addGauge(registry, { name, help, read: async () => store.pool?.(), choose });
}

type GaugeRow<Read> = readonly [name: string, help: string, choose: (read: Read) => number];

const OF_QUEUES: readonly GaugeRow<QueueState>[] = [
  ['reseller_queue_waiting', 'Items of the queue that are due, up to 1,000.', ({ waiting }) => waiting],
  ['reseller_queue_failed', 'Items of the queue that wait after a failure, up to 1,000.', ({ failed }) => failed],
  [
    'reseller_queue_oldest_age_seconds',
    'How long the oldest item has been due that does not wait after a failure; 0 if there is none.',
    ({ oldestMs = 0 }) => oldestMs / 1000,
  ],
  ['reseller_queue_held_up', '1 if a person should look at the queue.', ({ isHeldUp }) => Number(isHeldUp)],
];

const OF_STORE: readonly GaugeRow<ScrapedFigures>[] = [
  ['reseller_request_log_entries', 'Entries of the request log of all accounts.', ({ logEntries }) => logEntries],
  [
    'reseller_vms_differ',
    'VMs that should run and whose machine ended by itself. The service starts them again.',
    ({ endedMachines }) => endedMachines,
  ],
  ['reseller_instances', 'Instances that hold a lease; 1 for an embedded store.', ({ leases }) => leases],
  ['reseller_store_bytes', 'Size of the store on disk.', ({ storeBytes }) => storeBytes],
];

const OF_POOL: readonly GaugeRow<PoolFigures>[] = [
  [
    'reseller_database_connections_in_use',
    'Transactions and queries that use a connection. Short transactions share connections.',
    ({ inUse }) => inUse,
  ],
  ['reseller_database_connections_waiting', 'Transactions and queries that wait for a connection.', ({ waiting }) => waiting],
  [
    'reseller_database_connections_max',
    'Transactions and queries that run at the same time at most. This instance opens at most as many connections.',
    ({ max }) => max,
  ],
];

interface ReadGauge<Read, Chosen = Read> {
  readonly name: string;
  readonly help: string;
  /** Undefined if the figures are missing. */
  read(): Promise<Read | undefined>;
  choose(read: Chosen): number;
}

function addGauge<Read>(registry: Registry, { name, help, read, choose }: ReadGauge<Read>): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      registers: [],
      async collect() {
        const figures = await read();
        if (figures === undefined) this.remove();
        else this.set(choose(figures));
      },
    }),
  );
}

function addQueueGauge(registry: Registry, { name, help, read, choose }: ReadGauge<ScrapedFigures, QueueState>): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      labelNames: ['queue'],
      registers: [],
      async collect() {
        const { queues = [] } = (await read()) ?? {};
        this.reset();
        for (const state of queues) this.set({ queue: state.queue }, choose(state));
      },
    }),
  );
}

/** Adds whether the instance can serve requests. A store that does not respond in a second counts as one that cannot. */
export function observeReadiness({ registry }: Metrics, { instance, isStopping }: Pick<Readiness, 'instance' | 'isStopping'>): void {
  const ready = boundedReads(async () => {
    await instance.assertReady();
    return true;
  });
  addGauge(registry, {
    name: 'reseller_ready',
    help: '1 if the instance can write to its store, its clock is right, and it is not about to stop.',
    read: async () => !isStopping() && (await ready()) === true,
    choose: Number,
  });
}

/** Figures that are read from the store. */
interface ScrapedFigures {
  readonly queues: readonly QueueState[];
  readonly logEntries: number;
  readonly endedMachines: number;
  readonly leases: number;
  readonly storeBytes: number;
}

/** Urgent, because a service whose connections are all in use needs its figures most. */
async function readFigures(runtime: Runtime): Promise<ScrapedFigures> {
  const { store } = runtime;
  async function readCounts(db: Db) {
    const logEntries = await countLogEntries(db);
    const endedMachines = await countEndedMachines(db);
    const leases = store.sharing.hasInstances ? await countLeases(db, store.sharing.now) : 1;
    return { logEntries, endedMachines, leases };
  }
  const [queues, counts, storeBytes] = await Promise.all([
    queuesOf(runtime),
    store.read(readCounts, { isUrgent: true }),
    store.requestLog.storeSize(),
  ]);
  return { queues, ...counts, storeBytes };
}

/** Counts the entries exactly without a scan, because they are numbered without gaps and only the oldest are deleted. */
async function countLogEntries(db: Db): Promise<number> {
  const { entries } = await db
    .selectFrom((from) =>
      from
        .selectFrom('accounts')
        .select(({ selectFrom }) => [
          selectFrom('request_log')
            .select(({ fn }) => fn.max('number').as('n'))
            .whereRef('account_id', '=', 'accounts.id')
            .as('newest'),
          selectFrom('request_log')
            .select(({ fn }) => fn.min('number').as('n'))
            .whereRef('account_id', '=', 'accounts.id')
            .as('oldest'),
        ])
        .as('logs'),
    )
    .select(({ fn, eb }) => fn.sum<number>(eb(eb('newest', '-', eb.ref('oldest')), '+', eb.lit(1))).as('entries'))
    .executeTakeFirstOrThrow();
  return entries ?? 0;
}

async function countEndedMachines(db: Db): Promise<number> {
  const { vms } = await db
    .selectFrom('vms')
    .select(({ fn }) => fn.countAll<number>().as('vms'))
    .where('machine_ended', 'is not', null)
    .executeTakeFirstOrThrow();
  return vms;
}

async function countLeases(db: Db, now: Runtime['store']['sharing']['now']): Promise<number> {
  const { leases } = await db
    .selectFrom('instances')
    .select(({ fn }) => fn.countAll<number>().as('leases'))
    .where('lease_until', '>', now)
    .executeTakeFirstOrThrow();
  return leases;
}
