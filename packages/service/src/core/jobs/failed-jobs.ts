/**
 * Failed jobs. The account of a failed job waits, and the jobs of other accounts run. The store keeps failed jobs, because all instances wait
 * and an operator can see them and end the wait.
 */
import { errorText } from '@reseller/contract/is-error';
import { sql } from 'kysely';
import type { ExpressionBuilder, SqlBool } from 'kysely';

import type { Seconds } from '../../rules/billing.ts';
import type { Schema } from '../../store/schema.ts';
import { StoreUnavailableError } from '../../store/store.ts';
import type { Db, Store } from '../../store/store.ts';
import type { Tuning } from '../../store/tuning.ts';

/** The scheduled jobs of an account wait for each other. The documents of its invoices wait separately. */
export type Work = 'job' | 'document';

/** The job that a transaction performs. */
export interface CurrentJob {
  readonly work: Work;
  readonly accountId: string;
  readonly kind: string;
  /** Identifies an account, a server, a domain or an invoice. */
  readonly subject: string;
  readonly due: Seconds;
}

/** A job that failed. */
export interface FailedJob extends CurrentJob {
  readonly error: unknown;
  /** Milliseconds. */
  readonly nextAttempt: number;
}

const MAX_REASON_LENGTH = 500;

/** The text of a failure for the operator. */
export function reasonOf(error: unknown): string {
  return errorText(error).slice(0, MAX_REASON_LENGTH);
}

/** The wait after a number of failures in milliseconds: twice as long after each further one, up to a limit. */
export function waitAfter(attempts: number, { firstJobWaitMs, maxJobWaitMs }: Tuning): number {
  return Math.min(firstJobWaitMs * 2 ** (attempts - 1), maxJobWaitMs);
}

/** The result of one transaction. */
export interface Batch {
  readonly performed: number;
  readonly isLast: boolean;
}

export interface Batches {
  readonly store: Store;
  /** The maximum number of jobs in a transaction. */
  readonly batchSize: number;
  /** Milliseconds. */
  now(): Promise<number>;
  /** Performs jobs in one transaction, and calls `begin` before each. */
  run(batchSize: number, now: number, begin: (job: CurrentJob) => void): Promise<Batch>;
  /** Called for each job that failed. */
  onFailure(failed: FailedJob): void;
}

/**
 * Performs all due jobs. If one of a batch fails, each of the next gets its own transaction, until the failing one is found and waits.
 *
 * @returns The number of jobs performed.
 * @throws StoreUnavailableError if the store fails, which does not count as a failure of a job.
 */
export async function performInBatches({ store, batchSize: usual, now: readClock, run, onFailure }: Batches): Promise<number> {
  for (let performed = 0, batchSize = usual; ;) {
    const now = await readClock();
    const begun: CurrentJob[] = [];
    try {
      const batch = await run(batchSize, now, (job) => void begun.push(job));
      performed += batch.performed;
      if (batch.isLast) return performed;
    } catch (error) {
      const current = begun.at(-1);
      if (current === undefined || error instanceof StoreUnavailableError) throw error;
      if (batchSize === 1) onFailure(await storeFailure(store, current, error, now));
      batchSize = batchSize === 1 ? usual : 1;
    }
  }
}

/**
 * Stores that a job failed. Its account waits a minute, and twice as long after each further failure, up to an hour. Then it waits for the next
 * full second, because jobs are due at full seconds.
 *
 * @param now Milliseconds.
 */
function storeFailure(store: Store, job: CurrentJob, error: unknown, now: number): Promise<FailedJob> {
  const { accountId: account_id, work, kind, subject, due } = job;
  const reason = reasonOf(error);
  return store.commit(async ({ db }) => {
    const earlier = await db
      .selectFrom('failed_jobs')
      .select('attempts')
      .where('account_id', '=', account_id)
      .where('work', '=', work)
      .executeTakeFirst();
    const attempts = (earlier?.attempts ?? 0) + 1;
    const nextAttempt = Math.ceil((now + waitAfter(attempts, store.tuning)) / 1000) * 1000;
    const stored = { kind, subject, due, reason, attempts, last_attempt: now, next_attempt: nextAttempt };
    await db
      .insertInto('failed_jobs')
      .values({ account_id, work, ...stored })
      .onConflict((conflict) => conflict.columns(['account_id', 'work']).doUpdateSet(stored))
      .execute();
    return { ...job, error, nextAttempt };
  });
}

/**
 * Whether the work of an account does not wait after a failure.
 *
 * @param accountId The column with the account.
 * @param now Milliseconds. Work whose wait has ended by then may run. Default: none whose last attempt failed.
 */
export function mayRun(work: Work, accountId: string, now = 0) {
  return ({ not, exists, selectFrom }: Pick<ExpressionBuilder<Schema, never>, 'not' | 'exists' | 'selectFrom'>) =>
    not(
      exists(
        selectFrom('failed_jobs')
          .select('work')
          .where('work', '=', work)
          .where('next_attempt', '>', now)
          .where(sql<SqlBool>`failed_jobs.account_id = ${sql.ref(accountId)}`),
      ),
    );
}

/** Forgets the failure of an account whose jobs have succeeded. */
export async function forgetFailure(db: Db, accountId: string): Promise<void> {
  await db.deleteFrom('failed_jobs').where('work', '=', 'job').where('account_id', '=', accountId).execute();
}

/**
 * Forgets the failures whose wait has ended. Called at the end of a round, in which such work has succeeded, or nothing of it was left: if it
 * had failed again, it would wait.
 *
 * @param now Milliseconds.
 */
export async function forgetEndedWaits(store: Store, work: Work, now: number): Promise<void> {
  const ended = await store.read((db) => endedWaits(db, now).select('work').where('work', '=', work).limit(1).executeTakeFirst());
  if (!ended) return;
  await store.commit(({ db }) => db.deleteFrom('failed_jobs').where('work', '=', work).where('next_attempt', '<=', now).execute());
}

/** Failures whose wait has ended. @param now Milliseconds. */
export function endedWaits(db: Db, now: number) {
  return db.selectFrom('failed_jobs').where('next_attempt', '<=', now);
}
