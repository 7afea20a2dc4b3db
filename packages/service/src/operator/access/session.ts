/** Sessions of the console. The layer of HTTP sets their cookie. */
import type { Session } from '@reseller/operator-client';

import { SESSION_MS } from '../../rules/operator-session.ts';
import { toInstantOrNull } from '../instants.ts';
import type { OperatorCall, OperatorId, ReadOperation, StoreOperation } from '../operation.ts';

/** GET /session */
export const getSession: ReadOperation<'getSession'> = {
  kind: 'read',
  run: async (_db, call) => toSession(call, call.caller.sessionEnds ?? null),
};

/** POST /session: its record in the audit says who signed in, and from where. */
export const createSession: StoreOperation<'createSession'> = {
  kind: 'store',
  run: async (_transaction, call) => toSession(call, call.sandbox.clock.base.now() + SESSION_MS),
};

/** DELETE /session */
export const endSession: StoreOperation<'endSession'> = { kind: 'store', run: async () => undefined };

function toSession({ caller: { id, name, scopes }, runtime }: OperatorCall<OperatorId>, ends: number | null): Session {
  return { id, name, scopes: [...(scopes ?? [])], expires: toInstantOrNull(ends), mode: runtime.mode, reseller_api: runtime.publicUrl() };
}
