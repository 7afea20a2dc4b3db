import type { Ports } from '../../ports/ports.ts';
import type { Db, Store } from '../../store/store.ts';
import { jobKinds } from './job-kinds.ts';
import { dueBefore, firstJob } from './job.ts';
import type { AccountLock } from './job.ts';
import { performFirstJob } from './settle.ts';

export interface DueWorkParts {
  readonly store: Store;
  readonly ports: Ports;
  readonly secret: string;
  /** Milliseconds. Asynchronous, because another instance may have advanced the clock. */
  now(): Promise<number>;
  /** Whether jobs of accounts that other instances have locked are skipped or waited for. */
  readonly others: AccountLock['locked'];
}

/** Jobs in one transaction. A request of the same account may have to wait for it. */
const BATCH_SIZE = 25;

/**
 * Performs all due jobs in time order, each as of the instant at which it was due. Jobs share transactions, and thus one wait for the disk.
 * If a job fails, each job gets its own transaction, so that the jobs before it are performed. Several instances share the jobs: a job is
 * performed by the instance that has locked its account.
 *
 * @returns The number of jobs performed.
 */
export async function runScheduledJobs(parts: DueWorkParts): Promise<number> {
  // Usually no job is due, and a read transaction finds that out.
  const before = dueBefore(await parts.now());
  if (!(await parts.store.read((db) => firstJob(db, jobKinds, before)))) return 0;
  for (let performed = 0, batchSize = BATCH_SIZE; ;) {
    const now = await parts.now();
    try {
      const batch = await parts.store.commit(({ db }) => performBatch(db, parts, now, batchSize));
      performed += batch.performed;
      if (batch.isLast) return performed;
    } catch (error) {
      if (batchSize === 1) throw error;
      batchSize = 1;
    }
  }
}

async function performBatch(
  db: Db,
  { store, ports, secret, others }: DueWorkParts,
  now: number,
  batchSize: number,
): Promise<{ performed: number; isLast: boolean }> {
  const lock: AccountLock = { claim: store.sharing.claim, locked: others };
  let performed = 0;
  for (let tried = 0; tried < batchSize; tried++) {
    const claimed = await firstJob(db, jobKinds, dueBefore(now), { lock });
    if (!claimed) return { performed, isLast: true };
    // The job is looked up again, because another instance may have performed it before the account was locked.
    if (await performFirstJob(db, { accountId: claimed.job.accountId, now, ports, secret })) performed++;
  }
  return { performed, isLast: false };
}
