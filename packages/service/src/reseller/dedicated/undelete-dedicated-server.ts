import { spend } from '../../core/account/spending.ts';
import { holdRenewalsWithinLimit } from '../../core/accounting/renewal-hold.ts';
import { assertAllowed, ownServer, applyTransition } from '../../core/dedicated/server.ts';
import { settle } from '../../core/jobs/settle.ts';
import { withdrawServerCancellation } from '../../rules/dedicated.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { StoreOperation } from '../operation.ts';

/**
 * POST /dedicated/{identifier}/undelete: the server is renewed again. Nothing is charged before the renewal date, but a renewal that is due
 * in the open period needs credit, because the account may have used the credit that the cancellation released.
 */
export const undeleteDedicatedServer: StoreOperation<'undeleteDedicatedServer'> = {
  kind: 'store',
  async run({ db }, call) {
    await settle(db, call.runtime, call);
    const server = await ownServer(db, call.accountId, call.path.identifier);
    await lockAccount(db, call.accountId);
    const { renew } = assertAllowed(await applyTransition(db, server, withdrawServerCancellation), server.id);
    await holdRenewalsWithinLimit(db, call.accountId, { server: server.id });
    await spend(db, call.spender, BigInt(server.price), call.now);
    return {
      message: 'The cancellation was withdrawn and the dedicated server is renewed again.',
      data: { identifier: server.id, renew_date: secondsToInstant(renew) },
    };
  },
};
