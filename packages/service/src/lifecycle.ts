/** The work that no request starts: recovery, scheduled jobs and clean-up. */
import type { Logger } from 'pino';

import { deleteOldEntries } from './core/account/log-retention.ts';
import { forgetOldSpendings } from './core/account/spending.ts';
import { issueDocumentsAsJobs } from './core/accounting/invoice-document/issue.ts';
import { publishZones } from './core/domain/zones.ts';
import type { FailedZone } from './core/domain/zones.ts';
import { deleteOldEvents, enterAllEvents } from './core/events/feed.ts';
import type { WebhookSender } from './core/events/sender.ts';
import type { FailedJob } from './core/jobs/failed-jobs.ts';
import { runScheduledJobs } from './core/jobs/run-jobs.ts';
import type { JobRound } from './core/jobs/run-jobs.ts';
import { makeScheduledBackups } from './core/vm/backup-schedule.ts';
import type { FailedBackup } from './core/vm/backup-schedule.ts';
import { forgetOldConsoles } from './core/vm/console.ts';
import { measureVms } from './core/vm/measure-vms.ts';
import type { PortChecker } from './core/vm/monitoring.ts';
import { recoverDeliveries } from './delivery/recover.ts';
import type { Runtime } from './delivery/runtime.ts';
import type { KeyUse } from './http/reseller/key-use.ts';
import type { FailedAuthentications } from './http/shared/failed-authentications.ts';
import { deleteOldRecords } from './operator/access/audit-retention.ts';
import { forgetEndedSessions } from './operator/access/session.ts';
import { forgetOldAttempts } from './operator/otp/verify.ts';
import type { Clock } from './ports/system.ts';
import { forgetOldKeys } from './reseller/idempotency.ts';
import type { StartedRuntime } from './start-runtime.ts';

const CLEAN_UP_INTERVAL_MS = 60_000;

/** The parts of the service that scheduled jobs need. */
export interface JobContext extends Pick<StartedRuntime, 'runtime' | 'clock' | 'metrics'> {
  readonly logger: Logger;
  readonly recover: Recovery;
  /** The current time, after the settings were read again. */
  now(): Promise<number>;
  readonly keyUse: KeyUse;
  readonly failedAuthentications: FailedAuthentications;
  readonly webhooks: WebhookSender;
  readonly portChecker: PortChecker;
}

/** @returns A function that performs all due jobs and delivers the changes that they enqueue. It returns the number of jobs performed. */
export function jobRunner(context: JobContext): (others: JobRound['others']) => Promise<number> {
  const { runtime, clock, metrics, recover, now, keyUse, failedAuthentications, webhooks, portChecker, logger } = context;
  const { store, instance } = runtime;
  const cleanUp = createCleanUp(runtime, clock.base, failedAuthentications);
  function onFailure({ error, accountId, kind, subject, due, nextAttempt }: FailedJob): void {
    metrics.scheduledJobFailures.inc();
    const [dueAt, nextAt] = [due * 1000, nextAttempt].map((time) => new Date(time).toISOString());
    logger.error({ err: error, account: accountId, kind, subject, due: dueAt, next: nextAt }, 'a scheduled job failed; its account waits');
  }
  function onUnpublished({ domain, error, nextAttempt }: FailedZone): void {
    metrics.scheduledJobFailures.inc();
    logger.error({ err: error, domain, next: new Date(nextAttempt).toISOString() }, 'a zone could not be published; it waits');
  }
  function onFailedBackup({ vmId, error }: FailedBackup): void {
    metrics.scheduledJobFailures.inc();
    logger.error({ err: error, vm: vmId }, 'a scheduled backup was not made; the service tries again after an hour');
  }
  function onUnmeasured(error: unknown): void {
    metrics.scheduledJobFailures.inc();
    logger.error({ err: error }, 'the hypervisor did not say what its VMs use; the service asks again in five minutes');
  }
  function onNotEntered(account: string, error: unknown): void {
    metrics.scheduledJobFailures.inc();
    logger.error({ err: error, account }, 'events did not come into the feed of their account; the service tries again in the next round');
  }
  return async (others) => {
    await instance.assertAlive();
    const failed = await recover();
    const done = await runScheduledJobs(runtime, { now, others, onFailure });
    await issueDocumentsAsJobs(store, { now: clock.now(), onFailure });
    metrics.scheduledJobs.inc(done);
    await store.requestLog.numberAll();
    await keyUse.flush();
    await failedAuthentications.flush();
    await cleanUp(clock.now());
    // Scheduled jobs enqueue calls of the fleet.
    await recover(failed);
    await makeScheduledBackups(runtime, clock.now(), onFailedBackup);
    await publishZones(runtime, clock.now(), onUnpublished);
    await measureVms(runtime, clock.now(), onUnmeasured);
    await enterAllEvents({ store, random: runtime.ports.random, now: clock.now() }, onNotEntered);
    await deleteOldEvents(store, clock.now());
    webhooks.begin();
    portChecker.begin();
    return done;
  };
}

/** Settles deliveries, except the given reservations, and returns the reservations that failed. */
export type Recovery = (skipped?: ReadonlySet<string>) => Promise<ReadonlySet<string>>;

/** Deletes old Idempotency-Keys, attempts, counters, log entries and audit records, at most once per interval. */
function createCleanUp(
  { store, ports: { random } }: Runtime,
  machine: Clock,
  failedAuthentications: FailedAuthentications,
): (now: number) => Promise<void> {
  let last = -Infinity;
  return async (now) => {
    if (performance.now() - last < CLEAN_UP_INTERVAL_MS) return;
    await forgetOldKeys(store, now);
    await forgetOldAttempts(store, now);
    await store.sharing.windows.deleteExpired();
    await deleteOldEntries(store, now);
    await store.commit(({ db }) => forgetOldSpendings(db, now));
    await store.commit(({ db }) => forgetOldConsoles(db, now));
    await forgetEndedSessions(store, machine.now());
    await deleteOldRecords(store, random, machine.now());
    await failedAuthentications.deleteOld();
    last = performance.now();
  };
}

/** Settles interrupted and enqueued deliveries, logs each failure once, and returns the reservations that failed. */
export function recoveringAndLogging(runtime: Runtime, logger: Logger): Recovery {
  let logged: ReadonlySet<string> = new Set();
  return async (skipped = new Set()) => {
    const { settled, failures, failedTasks } = await recoverDeliveries(runtime, skipped);
    if (settled > 0) logger.info({ settled }, 'settled interrupted or enqueued deliveries');
    for (const failed of failedTasks) logger.error(failed, 'a task of the infrastructure failed; its change is undone, or started again');
    for (const { reservation, error } of failures) {
      if (logged.has(reservation)) continue;
      logger.error({ err: error, reservation }, 'a delivery could not be settled; the service tries again');
    }
    logged = new Set([...skipped, ...failures.map(({ reservation }) => reservation)]);
    return logged;
  };
}
