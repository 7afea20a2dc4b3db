/** Set-ups, renewals and ends of dedicated servers, when they are due. */
import type { Db } from '../../store/store.ts';
import type { JobKind } from '../jobs/run-jobs.ts';
import { runServerJob } from './life-cycle.ts';
import { findServer } from './server.ts';

export const dedicatedServerJobs: JobKind = {
  async first(db, now, accountId) {
    const due = firstServer(db, now);
    const server = await (accountId === undefined ? due : due.where('accounts.id', '=', accountId)).executeTakeFirst();
    return server && server.due !== null ? { at: server.due * 1000, id: server.id } : undefined;
  },
  async claimFirst(db, now, { claim, held }) {
    const server = await claim(firstServer(db, now), 'accounts', held).executeTakeFirst();
    return server && server.due !== null ? { at: server.due * 1000, accountId: server.accountId } : undefined;
  },
  async perform(db, { at, id }, ports, secret) {
    const server = await findServer(db, id);
    if (server) await runServerJob(db, { ports, secret }, server, at / 1000);
  },
};

/** With its account, which is what is claimed. */
function firstServer(db: Db, now: number) {
  return db
    .selectFrom('dedicated_servers')
    .innerJoin('accounts', 'accounts.id', 'dedicated_servers.account_id')
    .select(['dedicated_servers.id', 'dedicated_servers.due', 'accounts.id as accountId'])
    .where('due', '<=', Math.floor(now / 1000))
    .orderBy('due')
    .orderBy('dedicated_servers.id')
    .limit(1);
}
