import { periodOf } from '../../rules/billing.ts';
import type { Db } from '../../store/store.ts';
import type { JobKind } from '../jobs/run-jobs.ts';
import { closeEndedPeriods } from './period-end.ts';

/** Closes the periods of accounts at their ends, whether or not anyone asks for them. */
export const periodEndJobs: JobKind = {
  async first(db, now, accountId) {
    const ended = firstEnded(db, now);
    const account = await (accountId === undefined ? ended : ended.where('id', '=', accountId)).executeTakeFirst();
    return account && { at: periodOf(account.period_start).end * 1000, id: account.id };
  },
  async claimFirst(db, now, { claim, held }) {
    const account = await claim(firstEnded(db, now), 'accounts', held).executeTakeFirst();
    return account && { at: periodOf(account.period_start).end * 1000, accountId: account.id };
  },
  perform: (db, { at, id }) => closeEndedPeriods(db, id, at / 1000),
};

function firstEnded(db: Db, now: number) {
  return db
    .selectFrom('accounts')
    .select(['id', 'period_start'])
    .where('period_start', '<', periodOf(Math.floor(now / 1000)).start)
    .orderBy('period_start')
    .orderBy('id')
    .limit(1);
}
