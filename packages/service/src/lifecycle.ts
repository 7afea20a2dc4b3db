/** The work that no request starts: recovery, scheduled jobs and clean-up. */
import { sql } from 'kysely';
import type { Logger } from 'pino';

import { deleteOldEntries } from './core/account/log-retention.ts';
import { forgetOldSpendings } from './core/account/spending.ts';
import { issueDocumentsAsJobs, pendingDocuments } from './core/accounting/invoice-document/issue.ts';
import { zoneWork } from './core/domain/zones.ts';
import { deleteOldEvents, oldEvents } from './core/events/feed.ts';
import { createWebhookSender } from './core/events/sender.ts';
import type { WebhookSender } from './core/events/sender.ts';
import { eventSteps, feedWork } from './core/events/steps.ts';
import { endedWaits } from './core/jobs/failed-jobs.ts';
import type { FailedJob } from './core/jobs/failed-jobs.ts';
import { jobKinds } from './core/jobs/job-kinds.ts';
import { dueBefore, runnableJobs } from './core/jobs/job.ts';
import { runScheduledJobs } from './core/jobs/run-jobs.ts';
import type { JobRound } from './core/jobs/run-jobs.ts';
import { backupWork } from './core/vm/backup-schedule.ts';
import { forgetOldConsoles } from './core/vm/console.ts';
import { dueLook, lookForEndedMachines, restartWork } from './core/vm/ended-machines.ts';
import { dueMeasurements, measureVms } from './core/vm/measure-vms.ts';
import { portCheckWork } from './core/vm/monitoring.ts';
import { backgroundWork, singleWork } from './delivery/background-work.ts';
import type { BackgroundWork } from './delivery/background-work.ts';
import { recoveryWork } from './delivery/recovery-work.ts';
import type { RecoveryWork } from './delivery/recovery-work.ts';
import type { Runtime } from './delivery/runtime.ts';
import type { KeyUse } from './http/reseller/key-use.ts';
import type { FailedAuthentications } from './http/shared/failed-authentications.ts';
import { deleteOldRecords } from './operator/access/audit-retention.ts';
import { forgetEndedSessions } from './operator/access/session.ts';
import { forgetOldAttempts } from './operator/otp/verify.ts';
import type { Clock } from './ports/system.ts';
import { forgetOldKeys } from './reseller/idempotency.ts';
import type { StartedRuntime } from './start-runtime.ts';
import type { Db } from './store/store.ts';

const CLEAN_UP_INTERVAL_MS = 60_000;

/** The parts of the service that scheduled jobs need. */
export interface JobContext extends Pick<StartedRuntime, 'runtime' | 'clock' | 'metrics'> {
  readonly logger: Logger;
  /** The current time, after the settings were read again. */
  now(): Promise<number>;
  readonly keyUse: KeyUse;
  readonly background: Background;
}

/** What a round of jobs is for. */
export interface RoundOptions {
  readonly others: JobRound['others'];
  /** Whether the round also waits for the work that runs next to it. A server does not. */
  readonly waitsForBackground: boolean;
}

export type RunRound = (options: RoundOptions) => Promise<number>;

/** An idle instance still performs a whole round after this time, whatever the question says. */
const WHOLE_ROUND_INTERVAL_MS = 5 * 60_000;

/** @returns A function that performs all due jobs and begins the work next to them. It returns the number of jobs performed. */
export function jobRunner({ runtime, clock, metrics, now, keyUse, background, logger }: JobContext): RunRound {
  const { store, instance } = runtime;
  const { recovery, beforeEvents, feeds, portChecks, webhooks } = background;
  const works = worksOf(background);
  let wholeRoundAt = -Infinity;
  async function isIdle(): Promise<boolean> {
    const isWholeDue = performance.now() - wholeRoundAt > WHOLE_ROUND_INTERVAL_MS;
    if (!store.sharing.hasInstances || isWholeDue || (await store.read((db) => isAnythingDue(db, works, clock.now())))) return false;
    await keyUse.flush();
    // Only the process knows when these are due.
    for (const work of works) if (work.due === undefined) work.begin();
    return true;
  }
  function onFailure({ error, accountId, kind, subject, due, nextAttempt }: FailedJob): void {
    metrics.scheduledJobFailures.inc();
    const [dueAt, nextAt] = [due * 1000, nextAttempt].map((time) => new Date(time).toISOString());
    logger.error({ err: error, account: accountId, kind, subject, due: dueAt, next: nextAt }, 'a scheduled job failed; its account waits');
  }
  return async ({ others, waitsForBackground }) => {
    await instance.assertAlive();
    if (others === 'skip' && !waitsForBackground && (await isIdle())) return 0;
    wholeRoundAt = performance.now();
    recovery.begin();
    if (waitsForBackground) await recovery.settled();
    const done = await runScheduledJobs(runtime, { now, others, onFailure });
    await issueDocumentsAsJobs(store, { now: clock.now(), onFailure });
    metrics.scheduledJobs.inc(done);
    await store.requestLog.numberAll();
    await keyUse.flush();
    // Scheduled jobs enqueue calls of the fleet.
    recovery.beginNew();
    if (waitsForBackground) await recovery.settled();
    for (const work of beforeEvents) {
      work.begin();
      if (waitsForBackground) await work.settled();
    }
    if (waitsForBackground) {
      // A scheduled backup enqueues the deletion of the one that it replaces.
      recovery.beginNew();
      await recovery.settled();
    }
    feeds.begin();
    if (waitsForBackground) await feeds.settled();
    webhooks.begin();
    portChecks.begin();
    return done;
  };
}

/** One question in the place of one for each kind of work. */
async function isAnythingDue(db: Db, works: ReturnType<typeof worksOf>, now: number): Promise<boolean> {
  const queries = [
    ...works.flatMap(({ due }) => due?.(db) ?? []),
    ...jobKinds.map((kind) => runnableJobs(db, kind, dueBefore(now)).select('job.id')),
    endedWaits(db, now).select('work'),
    pendingDocuments(db, now).select('id'),
    sql`(select 1 from request_log_inbox)`,
  ];
  const { rows } = await sql`select 1 where ${sql.join(
    queries.map((query) => sql`exists ${query}`),
    sql` or `,
  )}`.execute(db);
  return rows.length > 0;
}

/** The work next to the round of jobs. */
export interface Background {
  readonly recovery: RecoveryWork;
  /** Work that is begun before the events of a round come into the feeds, because its end is an event. */
  readonly beforeEvents: readonly BackgroundWork[];
  readonly feeds: BackgroundWork;
  readonly portChecks: BackgroundWork;
  /** It waits for addresses of accounts, so nothing ever waits for it. */
  readonly webhooks: WebhookSender;
}

function worksOf({ recovery, beforeEvents, feeds, portChecks, webhooks }: Background) {
  return [recovery, ...beforeEvents, feeds, portChecks, webhooks];
}

export interface BackgroundContext extends Pick<StartedRuntime, 'runtime' | 'clock' | 'metrics'> {
  readonly logger: Logger;
  readonly failedAuthentications: FailedAuthentications;
}

export function createBackground({ runtime, clock, metrics, failedAuthentications, logger }: BackgroundContext): Background {
  function logging(message: string) {
    // The facts name what failed, such as a VM or an account.
    return ({ error, ...facts }: { readonly error: unknown }) => {
      metrics.scheduledJobFailures.inc();
      logger.error({ err: error, ...facts }, message);
    };
  }
  const onUnmeasured = logging('the hypervisor did not say what its VMs use; the service asks again in five minutes');
  const cleanUp = createCleanUp(runtime, clock.base, failedAuthentications);
  const webhooks = createWebhookSender(runtime, clock, (error) =>
    logger.error({ err: error }, 'a delivery to a webhook was not stored; it is sent again'),
  );
  return {
    recovery: recoveryWork(runtime, logger),
    beforeEvents: [
      backgroundWork(backupWork(runtime, logging('a scheduled backup was not made; the service tries again after an hour'))),
      backgroundWork(
        eventSteps(runtime, (error) =>
          logging('a step of events or deliveries failed; the service tries again in the next round')({ error }),
        ),
      ),
      backgroundWork(zoneWork(runtime, logging('a zone could not be published; it waits'))),
      singleWork(
        () => measureVms(runtime, (error) => onUnmeasured({ error })),
        (error) => onUnmeasured({ error }),
        runtime.ports.hypervisor.usage && ((db) => dueMeasurements(db, clock.now())),
      ),
      singleWork(
        () => lookForEndedMachines(runtime),
        // A hypervisor that is away is counted when it does not measure.
        (error) => logger.warn({ err: error }, 'the hypervisor did not say which VMs run; the service asks again in half a minute'),
        runtime.ports.hypervisor.running && ((db) => dueLook(db, clock.now())),
      ),
      backgroundWork(
        restartWork(
          runtime,
          logging('the machine of a VM ended by itself and was not started; the service tries again, and stops the VM after five attempts'),
        ),
      ),
      singleWork(
        () => cleanUp(clock.now()),
        (error) => logging('old data was not deleted; the service tries again in the next round')({ error }),
        (db) => oldEvents(db, clock.now()).select('id'),
      ),
    ],
    feeds: backgroundWork(
      feedWork(
        runtime,
        webhooks.begin,
        logging('events did not come into the feed of their account; the service tries again in the next round'),
      ),
    ),
    portChecks: backgroundWork(
      portCheckWork(runtime, (error) =>
        logger.error({ err: error }, 'a port of a VM was not checked; the service checks it again after a minute'),
      ),
    ),
    webhooks,
  };
}

/** Waits for all work next to the rounds but the webhooks. */
export async function settleBackground({ recovery, beforeEvents, feeds, portChecks }: Background): Promise<void> {
  for (const work of [recovery, ...beforeEvents, feeds, portChecks]) await work.settled();
}

export async function closeBackground(background: Background): Promise<void> {
  await Promise.all(worksOf(background).map((work) => work.close()));
}

/** Deletes old events, and at most once per interval old Idempotency-Keys, attempts, counters, log entries and audit records. */
function createCleanUp(
  { store, ports: { random } }: Runtime,
  machine: Clock,
  failedAuthentications: FailedAuthentications,
): (now: number) => Promise<void> {
  let last = -Infinity;
  return async (now) => {
    await failedAuthentications.flush();
    await deleteOldEvents(store, now);
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
