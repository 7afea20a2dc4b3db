/** Metrics for Prometheus. Labels have few values, so they contain no accounts, keys or addresses. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';

import manifest from '../../../package.json' with { type: 'json' };
import { jobKinds } from '../../core/jobs/job-kinds.ts';
import { firstJob, dueBefore } from '../../core/jobs/job.ts';
import { ClockError } from '../../delivery/clock-check.ts';
import { InfrastructureError } from '../../delivery/deliver.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { migrationsOf } from '../../store/migrations/all.ts';
import { StoreUnavailableError } from '../../store/store.ts';
import type { Db, PoolFigures } from '../../store/store.ts';

export type Api = 'reseller' | 'operator';
type Cause = 'store' | 'infrastructure' | 'clock' | 'other';

export interface Metrics {
  readonly registry: Registry;
  /** Duration of requests in seconds, by operation and status. */
  readonly requests: Histogram<'operation' | 'status'>;
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
      help: 'Time from the arrival of a request until its response was sent.',
      labelNames: ['operation', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    unavailable: new Counter({
      name: 'reseller_unavailable_total',
      help: 'Requests that got a 503, by API, cause, and system if the infrastructure failed.',
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
  { api, status, error }: { readonly api: Api; readonly status: number; readonly error: unknown },
): void {
  if (status === 401) authenticationFailures.inc({ api });
  if (status !== 503) return;
  const system = error instanceof InfrastructureError ? error.system : undefined;
  unavailable.inc({ api, cause: causeOf(error), ...(system && { system }) });
}

function causeOf(error: unknown): Cause {
  if (error instanceof StoreUnavailableError) return 'store';
  if (error instanceof InfrastructureError) return 'infrastructure';
  return error instanceof ClockError ? 'clock' : 'other';
}

/** Adds the figures of the store and of the scheduled jobs, which are read at each scrape. During an outage they are missing. */
export function observeRuntime({ registry }: Metrics, { store, ports, mode }: Runtime): void {
  const registers = [registry];
  const engine = store.sharing.hasInstances ? 'postgres' : 'sqlite';
  new Gauge({
    name: 'reseller_build_info',
    help: 'Version of the service, newest migration, Node, engine of the store and mode. The value is always 1.',
    labelNames: ['version', 'schema', 'node', 'engine', 'mode'],
    registers,
  }).set({ version: manifest.version, schema: Object.keys(migrationsOf(engine)).at(-1) ?? '', node: process.version, engine, mode }, 1);

  function gauge(name: string, help: string, read: () => Promise<number | undefined>): Gauge {
    return new Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = await read().catch(() => undefined);
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  }
  function fromStore(name: string, help: string, read: (db: Db) => Promise<number>) {
    return gauge(name, help, () => store.read(read));
  }
  function ofPool(name: string, help: string, choose: (figures: PoolFigures) => number) {
    return gauge(name, help, async () => store.pool && choose(store.pool()));
  }

  fromStore('reseller_scheduled_job_oldest_age_seconds', 'How long the oldest scheduled job has been due; 0 if none is.', async (db) => {
    const now = ports.clock.now();
    const first = await firstJob(db, jobKinds, dueBefore(now));
    return first === undefined ? 0 : Math.max(0, now / 1000 - first.job.due);
  });
  fromStore('reseller_failed_jobs', 'Scheduled jobs whose last attempt failed. Their accounts wait.', countFailedJobs);
  fromStore('reseller_request_log_entries', 'Entries of the request log of all accounts.', countLogEntries);
  fromStore(
    'reseller_vms_differ',
    'VMs that should run and whose machine ended by itself. The service starts them again.',
    countEndedMachines,
  );
  fromStore('reseller_instances', 'Instances that hold a lease; 1 for an embedded store.', async (db) =>
    store.sharing.hasInstances ? countLeases(db, store.sharing.now) : 1,
  );
  gauge('reseller_store_bytes', 'Size of the store on disk.', () => store.requestLog.storeSize());
  ofPool(
    'reseller_database_connections_in_use',
    'Transactions and queries that use a connection. Short transactions share connections.',
    ({ inUse }) => inUse,
  );
  ofPool('reseller_database_connections_waiting', 'Transactions and queries that wait for a connection.', ({ waiting }) => waiting);
  ofPool(
    'reseller_database_connections_max',
    'Transactions and queries that run at the same time at most. This instance opens at most as many connections.',
    ({ max }) => max,
  );
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

async function countFailedJobs(db: Db): Promise<number> {
  const { jobs } = await db
    .selectFrom('failed_jobs')
    .select(({ fn }) => fn.countAll<number>().as('jobs'))
    .executeTakeFirstOrThrow();
  return jobs;
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
