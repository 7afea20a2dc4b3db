import { holdRenewals } from '../../core/accounting/renewal-hold.ts';
import { assertAllowed, ownServer, applyTransition } from '../../core/dedicated/server.ts';
import { settle } from '../../core/jobs/settle.ts';
import { cancelServer } from '../../rules/dedicated.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { StoreOperation } from '../operation.ts';

/**
 * DELETE /dedicated/{identifier}/delete: the server stays active until its renewal date, and is not renewed. The fleet is called when the
 * server ends, so this needs only the store.
 */
export const deleteDedicatedServer: StoreOperation<'deleteDedicatedServer'> = {
  kind: 'store',
  async run({ db }, call) {
    await settle(db, call.runtime, call);
    const server = await ownServer(db, call.accountId, call.path.identifier);
    await lockAccount(db, call.accountId);
    const { renew } = assertAllowed(await applyTransition(db, server, cancelServer), server.id);
    await holdRenewals(db, call.accountId, { server: server.id });
    return {
      message: 'The dedicated server was cancelled and stays active until its termination date.',
      data: { identifier: server.id, termination_date: secondsToInstant(renew) },
    };
  },
};
