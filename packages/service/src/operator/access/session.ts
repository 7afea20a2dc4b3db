/** Sessions of the console. The layer of HTTP sets their cookie. */
import type { Session } from '@reseller/operator-client';

import { toInstantOrNull } from '../../rules/instants.ts';
import { SESSION_MS } from '../../rules/operator-session.ts';
import type { Db, Store } from '../../store/store.ts';
import type { OperatorCall, OperatorId, ReadOperation, StoreOperation } from '../operation.ts';

/** GET /session */
export const getSession: ReadOperation<'getSession'> = {
  kind: 'read',
  run: async (_db, call) => toSession(call, call.caller.session?.ends ?? null),
};

/** POST /session: its record in the audit says who signed in, and from where. */
export const createSession: StoreOperation<'createSession'> = {
  kind: 'store',
  run: async (_transaction, call) => toSession(call, call.sandbox.clock.base.now() + SESSION_MS),
};

/** DELETE /session: a copy of the cookie is not valid afterwards either. */
export const endSession: StoreOperation<'endSession'> = {
  kind: 'store',
  async run({ db }, { caller: { session } }) {
    if (session)
      await db
        .insertInto('ended_sessions')
        .values(session)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    return undefined;
  },
};

/** Whether its holder has signed out. */
export async function hasEnded(db: Db, hash: string): Promise<boolean> {
  return (await db.selectFrom('ended_sessions').select('hash').where('hash', '=', hash).executeTakeFirst()) !== undefined;
}

/**
 * Deletes sessions that have ended by themselves.
 *
 * @param now Milliseconds by the clock of the machine.
 */
export async function forgetEndedSessions(store: Store, now: number): Promise<void> {
  await store.commit(({ db }) => db.deleteFrom('ended_sessions').where('ends', '<=', now).execute());
}

function toSession({ caller: { id, name, scopes }, runtime }: OperatorCall<OperatorId>, ends: number | null): Session {
  return { id, name, scopes: [...(scopes ?? [])], expires: toInstantOrNull(ends), mode: runtime.mode, reseller_api: runtime.publicUrl() };
}
