import type { Account } from '@reseller/operator-client';

import { suspendAccount as suspend, unsuspendAccount as unsuspend } from '../core/account/suspension.ts';
import type { Db } from '../store/store.ts';
import { accountOf, assertNotErased, lockedAccountOf } from './account.ts';
import type { OperatorCall, RecordChange, ServiceOperation } from './operation.ts';

/** PUT /accounts/{account_id}/suspension */
export const suspendAccount: ServiceOperation<'suspendAccount'> = {
  kind: 'service',
  run: (call, record) => changeSuspension(call, record, (db, id) => suspend(db, id, { reason: call.body.reason, now: call.now })),
};

/** DELETE /accounts/{account_id}/suspension */
export const unsuspendAccount: ServiceOperation<'unsuspendAccount'> = {
  kind: 'service',
  run: (call, record) => changeSuspension(call, record, unsuspend),
};

type SuspensionCall = OperatorCall<'suspendAccount'> | OperatorCall<'unsuspendAccount'>;

/** A repeated request waits for the other instances too, because the first one may have been interrupted before it waited. */
async function changeSuspension(
  { path, sandbox, runtime: { store } }: SuspensionCall,
  record: RecordChange,
  change: (db: Db, accountId: string) => Promise<void>,
): Promise<Account> {
  const account = await store.commit(async ({ db }) => {
    const before = await lockedAccountOf(db, path.account_id);
    assertNotErased(before);
    await change(db, before.id);
    const after = await accountOf(db, before.id);
    await record(db, { before, after });
    return after;
  });
  await sandbox.propagate();
  return account;
}
