import type { Runtime } from '../../delivery/runtime.ts';
import type { Db } from '../../store/store.ts';
import { periodEndJobs } from '../accounting/period-end-job.ts';
import { closeInSteps, needsSteps } from '../accounting/period-end.ts';
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
}

/** Jobs in one transaction. A request of the same account may have to wait for it. */
const BATCH_SIZE = 25;

/**
 * Performs all due jobs in time order, each as of the instant at which it was due. Several jobs share a transaction, so they wait for the
 * disk once. If a job fails, each job gets its own transaction, so that the jobs before it are performed. Several instances share the jobs:
 * a job is performed by the instance that has locked its account.
 *
 * @returns The number of jobs performed.
 */
export async function runScheduledJobs(runtime: Runtime, round: JobRound): Promise<number> {
  // Usually no job is due, and a read transaction finds that out.
  const before = dueBefore(await round.now());
  if (!(await runtime.store.read((db) => firstJob(db, jobKinds, before)))) return 0;
  for (let performed = 0, batchSize = BATCH_SIZE; ;) {
    const now = await round.now();
    try {
      const batch = await runtime.store.commit(({ db }) => performBatch(db, runtime, { now, others: round.others, batchSize }));
      performed += batch.performed;
      if (batch.large !== undefined) await closeInSteps(runtime.store, batch.large, Math.floor(now / 1000));
      if (batch.isLast) return performed;
    } catch (error) {
      if (batchSize === 1) throw error;
      batchSize = 1;
    }
  }
}

interface Batch {
  readonly performed: number;
  readonly isLast: boolean;
  /** The account of the next job, if its period is closed in steps before. */
  readonly large?: string;
}

async function performBatch(
  db: Db,
  runtime: Runtime,
  { now, others, batchSize }: { now: number; others: AccountLock['locked']; batchSize: number },
): Promise<Batch> {
  const lock: AccountLock = { claim: runtime.store.sharing.claim, locked: others };
  let performed = 0;
  for (let tried = 0; tried < batchSize; tried++) {
    const claimed = await firstJob(db, jobKinds, dueBefore(now), { lock });
    if (!claimed) return { performed, isLast: true };
    const { accountId } = claimed.job;
    if (claimed.kind === periodEndJobs && (await needsSteps(db, accountId, claimed.job.due)))
      return { performed, isLast: false, large: accountId };
    // The job is looked up again, because another instance may have performed it before the account was locked.
    if (await performFirstJob(db, runtime, { accountId, now })) performed++;
  }
  return { performed, isLast: false };
}
