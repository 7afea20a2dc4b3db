/** Set-ups, renewals and ends of dedicated servers, when they are due. */
import type { Db } from '../../store/store.ts';
import type { DueWork } from '../due-work.ts';
import { doWhatIsDue } from './runtime.ts';
import type { RuntimeParts } from './runtime.ts';
import { findServer } from './server.ts';

/** Does what is due of every server, whether or not anyone asks for it. */
export const dedicatedServersDue: DueWork = {
  async first(db, now) {
    const server = await db
      .selectFrom('dedicated_servers')
      .select(['id', 'due'])
      .where('due', '<=', Math.floor(now / 1000))
      .orderBy('due')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    return server && server.due !== null ? { at: server.due * 1000, id: server.id } : undefined;
  },
  async perform({ db }, { at, id }, ports, secret) {
    const server = await findServer(db, id);
    if (server) await doWhatIsDue(db, { ports, secret }, server, at / 1000);
  },
};

/** Whose servers, and up to when. */
export interface CatchingUp extends RuntimeParts {
  readonly accountId: string;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Does what is due of an account's servers. Each operation on them calls it first, so no request
 * sees a server that has ended or a renewal that is over, whenever the timed work gets to it.
 */
export async function catchUp(db: Db, { accountId, now, ports, secret }: CatchingUp): Promise<void> {
  for (;;) {
    const server = await db
      .selectFrom('dedicated_servers')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('due', '<=', Math.floor(now / 1000))
      .orderBy('due')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    if (!server || server.due === null) return;
    await doWhatIsDue(db, { ports, secret }, server, server.due);
  }
}
