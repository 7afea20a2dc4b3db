import type { DueItem } from '@reseller/operator-client';
import type { AliasableExpression, Expression } from 'kysely';

import type { Services } from '../../delivery/runtime.ts';
import { periodOf } from '../../rules/billing.ts';
import type { Seconds } from '../../rules/billing.ts';
import type { Db, Sharing } from '../../store/store.ts';
import { mayRun } from './failed-jobs.ts';

/** A scheduled job: a period end, a set-up, a renewal or an end. */
export interface Job {
  /** Identifies the subject of the job: an account, a server or a domain. */
  readonly id: string;
  readonly accountId: string;
  readonly kind: string;
  readonly due: Seconds;
}

/** The instant up to which jobs are due, as values or as parameters of a prepared statement. */
export interface DueBefore<Value = Seconds | Expression<Seconds>> {
  readonly now: Value;
  /** Start of the period that `now` is in. */
  readonly periodStart: Value;
}

/** A later instant than that of any job. */
export const ALL_JOBS: DueBefore<Seconds> = { now: Number.MAX_SAFE_INTEGER, periodStart: Number.MAX_SAFE_INTEGER };

/** A scheduled job as it is in the store. */
export interface JobRow {
  readonly id: string;
  readonly kind: DueItem['kind'];
  readonly account_id: string | null;
  /** The column that jobs of this kind are scheduled by. */
  readonly due: Seconds | null;
}

export interface JobKind {
  /** The kinds that its rows have. */
  readonly names: readonly JobRow['kind'][];
  /** Queries the due jobs of all accounts. This query alone defines when a job of this kind is due. */
  due(db: Db, before: DueBefore): AliasableExpression<JobRow>;
  /** When a job is due, from the column that it is scheduled by. */
  dueAt(column: Seconds): Seconds;
  /** Performs a job as of `job.due`, however late it is. Does nothing if it is no longer due. */
  perform(db: Db, services: Services, job: Job): Promise<void>;
}

/** How the account of a job is locked until the transaction ends. */
export interface AccountLock {
  readonly claim: Sharing['claim'];
  /** What to do with accounts that another instance has locked. */
  readonly locked: Parameters<Sharing['claim']>[2];
}

/** @param now Milliseconds. */
export function dueBefore(now: number): DueBefore<Seconds> {
  const seconds = Math.floor(now / 1000);
  return { now: seconds, periodStart: periodOf(seconds).start };
}

/** The jobs to choose from. */
interface WhichJobs {
  /** Default: all accounts. */
  readonly accountId?: string;
  readonly lock?: AccountLock;
  /** Whether accounts are skipped that wait after a failure. Default: false. */
  readonly skipsFailed?: boolean;
}

/** The earliest due job. */
export async function firstJob(
  db: Db,
  kinds: readonly JobKind[],
  before: DueBefore<Seconds>,
  which: WhichJobs = {},
): Promise<{ readonly kind: JobKind; readonly job: Job } | undefined> {
  let first: { kind: JobKind; job: Job } | undefined;
  for (const kind of kinds) {
    const job = await firstOfKind(db, kind, before, which);
    // The kinds are in the order in which jobs of the same instant are performed.
    if (job && (!first || job.due < first.job.due)) first = { kind, job };
  }
  return first;
}

/** The due jobs of a kind, with their accounts. */
export function dueJobs(db: Db, kind: JobKind, before: DueBefore<Seconds>) {
  return db.selectFrom(kind.due(db, before).as('job')).innerJoin('accounts', 'accounts.id', 'job.account_id');
}

/** The due jobs of a kind whose accounts do not wait after a failure. */
export function runnableJobs(db: Db, kind: JobKind, before: DueBefore<Seconds>) {
  return dueJobs(db, kind, before).where(mayRun('job', 'accounts.id', before.now * 1000));
}

async function firstOfKind(
  db: Db,
  kind: JobKind,
  before: DueBefore<Seconds>,
  { accountId, lock, skipsFailed = false }: WhichJobs,
): Promise<Job | undefined> {
  const earliest = dueJobs(db, kind, before)
    .select(['job.id', 'job.kind', 'job.due', 'accounts.id as accountId'])
    .orderBy('job.due')
    .orderBy('job.id')
    .limit(1);
  const row = await earliest
    .$if(accountId !== undefined, (query) => query.where('job.account_id', '=', accountId ?? ''))
    .$if(skipsFailed, (query) => query.where(mayRun('job', 'accounts.id', before.now * 1000)))
    .$if(lock !== undefined, (query) => (lock ? lock.claim(query, 'accounts', lock.locked) : query))
    .executeTakeFirst();
  return row && row.due !== null ? { id: row.id, accountId: row.accountId, kind: row.kind, due: kind.dueAt(row.due) } : undefined;
}
