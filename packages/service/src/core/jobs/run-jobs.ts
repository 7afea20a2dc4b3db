import type { Runtime } from '../../delivery/runtime.ts';
import type { Db } from '../../store/store.ts';
import { periodEndJobs } from '../accounting/period-end-job.ts';
import { closeInSteps, needsSteps } from '../accounting/period-end.ts';
import { forgetEndedWaits, performInBatches } from './failed-jobs.ts';
import type { Batch, CurrentJob, FailedJob } from './failed-jobs.ts';
import { jobKinds } from './job-kinds.ts';
import { dueBefore, firstJob } from './job.ts';
import type { AccountLock } from './job.ts';
import { performFirstJob } from './settle.ts';

/** How one round of scheduled jobs is run. */
export interface JobRound {
  /** Milliseconds. Asynchronous, because another instance may have advanced the clock. */
  now(): Promise<number>;
  /** Whether jobs of accounts that other instances have locked are skipped or waited for. */
  readonly others: AccountLock['locked'];
  /** Called for each job that fails. */
  onFailure(failed: FailedJob): void;
}

/**
 * Performs all due jobs in time order, each as of the instant at which it was due. Several jobs share a transaction, so they wait for the
 * disk once. If one of them fails, each of the next gets its own transaction, until the failing one is found. Its account waits then, and the
 * jobs of all others run. Several instances share the jobs: a job is performed by the instance that has locked its account.
 *
 * @returns The number of jobs performed.
 */
export async function runScheduledJobs(runtime: Runtime, round: JobRound): Promise<number> {
  const begun = await round.now();
  // Usually no job is due, and a read transaction finds that out.
  const isAnyDue = await runtime.store.read((db) => firstJob(db, jobKinds, dueBefore(begun), { skipsFailed: true }));
  const performed = isAnyDue ? await performDueJobs(runtime, round) : 0;
  await forgetEndedWaits(runtime.store, 'job', Math.floor(begun / 1000) * 1000);
  return performed;
}

function performDueJobs(runtime: Runtime, { now: readClock, others, onFailure }: JobRound): Promise<number> {
  const { store } = runtime;
  return performInBatches({
    store,
    batchSize: store.tuning.jobBatch,
    now: readClock,
    onFailure,
    async run(batchSize, now, begin) {
      const { large, ...batch } = await store.commit(({ db }) => performBatch(db, runtime, { now, others, batchSize, begin }));
      if (large !== undefined) await closeInSteps(store, large, Math.floor(now / 1000));
      return batch;
    },
  });
}

interface BatchRun {
  /** Milliseconds. */
  readonly now: number;
  readonly others: AccountLock['locked'];
  readonly batchSize: number;
  /** Called before each job. */
  begin(job: CurrentJob): void;
}

interface JobBatch extends Batch {
  /** The account of the next job, if its period is closed in steps before. */
  readonly large?: string;
}

async function performBatch(db: Db, runtime: Runtime, { now, others, batchSize, begin }: BatchRun): Promise<JobBatch> {
  const lock: AccountLock = { claim: runtime.store.sharing.claim, locked: others };
  let performed = 0;
  let claimed: Awaited<ReturnType<typeof firstJob>>;
  let large: string | undefined;
  for (let tried = 0; tried < batchSize; tried++) {
    claimed = await firstJob(db, jobKinds, dueBefore(now), { lock, skipsFailed: true });
    if (!claimed) break;
    const { accountId } = claimed.job;
    begin({ ...claimed.job, work: 'job', subject: claimed.job.id });
    if (claimed.kind === periodEndJobs && (await needsSteps(db, accountId, claimed.job.due))) {
      large = accountId;
      break;
    }
    // The job is looked up again, because another instance may have performed it before the account was locked.
    if (await performFirstJob(db, runtime, { accountId, now })) performed++;
  }
  return { performed, isLast: claimed === undefined, ...(large !== undefined && { large }) };
}
