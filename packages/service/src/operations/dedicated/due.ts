/** Set-ups, renewals and ends of dedicated servers, when they are due. */
import type { DueWork } from '../due-work.ts';
import { doWhatIsDue } from './runtime.ts';
import { findServer } from './server.ts';

export const dedicatedServersDue: DueWork = {
  async first(db, now, accountId) {
    const due = db
      .selectFrom('dedicated_servers')
      .select(['id', 'due'])
      .where('due', '<=', Math.floor(now / 1000))
      .orderBy('due')
      .orderBy('id')
      .limit(1);
    const server = await (accountId === undefined ? due : due.where('account_id', '=', accountId)).executeTakeFirst();
    return server && server.due !== null ? { at: server.due * 1000, id: server.id } : undefined;
  },
  async claimFirst(db, now, { claim, held }) {
    const due = db
      .selectFrom('dedicated_servers')
      .innerJoin('accounts', 'accounts.id', 'dedicated_servers.account_id')
      .select(['accounts.id', 'dedicated_servers.due'])
      .where('due', '<=', Math.floor(now / 1000))
      .orderBy('due')
      .orderBy('dedicated_servers.id')
      .limit(1);
    const server = await claim(due, 'accounts', held).executeTakeFirst();
    return server && server.due !== null ? { at: server.due * 1000, accountId: server.id } : undefined;
  },
  async perform(db, { at, id }, ports, secret) {
    const server = await findServer(db, id);
    if (server) await doWhatIsDue(db, { ports, secret }, server, at / 1000);
  },
};
