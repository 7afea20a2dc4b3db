import type { Runtime, Services } from '../../delivery/runtime.ts';
import type { Seconds } from '../../rules/billing.ts';
import { lockAccount } from '../../store/account-lock.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db, Store } from '../../store/store.ts';
import { closeInSteps, needsSteps } from '../accounting/period-end.ts';
import { forgetFailure } from './failed-jobs.ts';
import { jobKinds } from './job-kinds.ts';
import { dueBefore, firstJob } from './job.ts';

/** Performs the due jobs of an account before an operation that only reads. Usually none is due, and one query finds that out. */
export async function settleAccount(runtime: Runtime, due: { readonly accountId: string; readonly now: number }): Promise<void> {
  if (await runtime.store.read((db) => isSettled(db, due))) return;
  await closeLongPeriod(runtime.store, due);
  await runtime.store.commit(({ db }) => settle(db, runtime, due));
}

/**
 * Closes the ended period of an account with many VMs in steps. Operations that bill call it before their transaction, which would otherwise
 * close the period as a whole. It looks once in a month at each account.
 */
export async function closeLongPeriod(
  store: Store,
  { accountId, now }: { readonly accountId: string; readonly now: number },
): Promise<void> {
  const { now: seconds, periodStart } = dueBefore(now);
  let closed = lastClosed.get(store);
  if (closed?.month !== periodStart) lastClosed.set(store, (closed = { month: periodStart, accounts: new Set() }));
  if (closed.accounts.has(accountId)) return;
  if (await store.read((db) => needsSteps(db, accountId, seconds))) await closeInSteps(store, accountId, seconds);
  closed.accounts.add(accountId);
}

/** The accounts whose last period was found to be short, or was closed, since the month began. */
const lastClosed = new WeakMap<Store, { readonly month: Seconds; readonly accounts: Set<string> }>();

/**
 * Performs the due jobs of an account in time order. Each operation that bills, or that returns data which changes with time, calls it
 * first. So a request never sees an outdated state, and a renewal is on the invoice of the month in which it was due, even if a request
 * closes that month.
 *
 * @param due The account, and the instant (milliseconds) up to which jobs are due.
 */
export async function settle(db: Db, services: Services, due: { readonly accountId: string; readonly now: number }): Promise<void> {
  const { accountId, now } = due;
  if (await isSettled(db, due)) return;
  // The account is locked before its jobs, as in `runScheduledJobs`. Otherwise two transactions on PostgreSQL could deadlock.
  await lockAccount(db, accountId);
  while (await performFirstJob(db, services, { accountId, now }));
  await forgetFailure(db, accountId);
}

/**
 * Performs the earliest due job of an account that the transaction has locked.
 *
 * @returns Whether a job was due.
 */
export async function performFirstJob(
  db: Db,
  services: Services,
  { accountId, now }: { readonly accountId: string; readonly now: number },
): Promise<boolean> {
  const first = await firstJob(db, jobKinds, dueBefore(now), { accountId });
  await first?.kind.perform(db, services, first.job);
  return first !== undefined;
}

/** Whether no job of the account is due. @param due See `settle`. */
export async function isSettled(db: Db, { accountId, now }: { readonly accountId: string; readonly now: number }): Promise<boolean> {
  return (await accountWithoutDueJobs(db, { accountId, ...dueBefore(now) })).length > 0;
}

/** Finds the account if no job of any kind is due. One query for all kinds, because nearly every request finds none. */
const accountWithoutDueJobs = prepared<{ accountId: string; now: Seconds; periodStart: Seconds }, { id: string }>((db, parameter) => {
  const before = { now: parameter('now'), periodStart: parameter('periodStart') };
  return db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', parameter('accountId'))
    .where(({ exists, not, and, selectFrom }) =>
      and(
        jobKinds.map((kind) =>
          not(exists(selectFrom(kind.due(db, before).as('job')).select('job.id').where('job.account_id', '=', parameter('accountId')))),
        ),
      ),
    );
});
