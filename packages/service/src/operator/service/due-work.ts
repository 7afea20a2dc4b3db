import type { DueItem, FailedJob, WorkQueue } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { jobKinds } from '../../core/jobs/job-kinds.ts';
import { ALL_JOBS, dueBefore } from '../../core/jobs/job.ts';
import { queueStates } from '../../core/queues.ts';
import type { QueueState } from '../../core/queues.ts';
import { PAGE_SIZE } from '../../generated/operator/facts.gen.ts';
import { toInstant } from '../../rules/instants.ts';
import type { Db } from '../../store/store.ts';
import type { FailedJobsTable } from '../../store/tables/service.ts';
import { lockedAccountOf } from '../account.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';

/** A scheduled job or a change of a sale. */
interface Item extends Omit<DueItem, 'due'> {
  /** Milliseconds. */
  readonly at: number;
}

/** GET /due-work */
export const getDueWork: ReadOperation<'getDueWork'> = {
  kind: 'read',
  async run(db, { query, now, runtime }) {
    const limit = query.limit ?? PAGE_SIZE;
    const items = [...(await jobs(db, limit)), ...(await sales(db, now, limit))].toSorted((one, other) => one.at - other.at);
    const since = items[0]?.at;
    return {
      now: toInstant(now),
      overdue: await countOverdue(db, now),
      overdue_since: since !== undefined && since <= now ? toInstant(since) : null,
      next: items.slice(0, limit).map(({ at, ...item }) => ({ ...item, due: toInstant(at) })),
      failed: (await selectFailedJobs(db).limit(limit).execute()).map(toFailedJob),
      queues: (await queueStates(db, runtime, now)).map(toWorkQueue),
    };
  },
};

function toWorkQueue({ queue, waiting, failed, oldestMs, oldest, isHeldUp }: QueueState): WorkQueue {
  return {
    queue,
    waiting,
    failed,
    oldest_seconds: oldestMs === undefined ? null : Math.floor(oldestMs / 1000),
    oldest: oldest ? { subject: oldest.subject, account_id: oldest.account_id } : null,
    is_held_up: isHeldUp,
  };
}

/** POST /accounts/{account_id}/retry-jobs */
export const retryJobs: StoreOperation<'retryJobs'> = {
  kind: 'store',
  async before(db, { path }) {
    return { failed: await failedJobsOf(db, (await lockedAccountOf(db, path.account_id)).id) };
  },
  async run({ db }, { path, now }) {
    await db
      .updateTable('failed_jobs')
      .set({ next_attempt: Math.floor(now / 1000) * 1000 })
      .where('account_id', '=', path.account_id)
      .execute();
    return { failed: await failedJobsOf(db, path.account_id) };
  },
};

async function failedJobsOf(db: Db, accountId: string): Promise<FailedJob[]> {
  return (await selectFailedJobs(db).where('account_id', '=', accountId).execute()).map(toFailedJob);
}

function selectFailedJobs(db: Db) {
  return db.selectFrom('failed_jobs').selectAll().orderBy('next_attempt').orderBy('account_id').orderBy('work');
}

function toFailedJob(row: Selectable<FailedJobsTable>): FailedJob {
  const { kind, subject, account_id, reason, attempts } = row;
  return {
    kind,
    subject,
    account_id,
    due: toInstant(row.due * 1000),
    reason,
    attempts,
    last_attempt: toInstant(row.last_attempt),
    next_attempt: toInstant(row.next_attempt),
  };
}

async function jobs(db: Db, limit: number): Promise<Item[]> {
  const items: Item[] = [];
  for (const jobKind of jobKinds) {
    const rows = await db
      .selectFrom(jobKind.due(db, ALL_JOBS).as('job'))
      .select(['id', 'kind', 'account_id', 'due'])
      .orderBy('due')
      .orderBy('id')
      .limit(limit)
      .execute();
    items.push(...rows.map(({ id, due, ...row }) => ({ ...row, subject: id, at: jobKind.dueAt(due ?? 0) * 1000 })));
  }
  return items;
}

/** Sales begin and end without a job, so they are never overdue. */
async function sales(db: Db, now: number, limit: number): Promise<Item[]> {
  const open = db.selectFrom('sales').select(['id', 'account_id', 'start', 'stop']).where('ended', 'is', null);
  const starting = await open.where('start', '>', now).orderBy('start').limit(limit).execute();
  const ending = await open.where('stop', '>', now).orderBy('stop').limit(limit).execute();
  return [
    ...starting.map(({ id, account_id, start }) => ({ kind: 'sale_start', subject: id, account_id, at: start })),
    ...ending.map(({ id, account_id, stop }) => ({ kind: 'sale_end', subject: id, account_id, at: stop ?? 0 })),
  ];
}

async function countOverdue(db: Db, now: number): Promise<number> {
  let overdue = 0;
  for (const jobKind of jobKinds) {
    const { count } = await db
      .selectFrom(jobKind.due(db, dueBefore(now)).as('job'))
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    overdue += count;
  }
  return overdue;
}
