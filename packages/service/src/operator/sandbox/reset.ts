import type { ResetSandboxResponses } from '@reseller/operator-client';

import { forgetMachines, removeForgotten } from '../../core/vm/forgotten.ts';
import type { ForgottenMachine } from '../../core/vm/forgotten.ts';
import { fillDemoAccount } from '../../sandbox/seed-demo-account.ts';
import { DEMO_ACCOUNT, fillSandbox } from '../../sandbox/seed-sandbox.ts';
import { empty, freeze } from '../../sandbox/tables.ts';
import type { Transaction } from '../../store/store.ts';
import type { ServiceOperation } from '../operation.ts';
import { clockAt, toClock, withClockTurnedBack } from './clock.ts';

/**
 * POST /sandbox/reset: restores the state of the first start, with the clock of the machine, and removes the machines of all VMs. The demo account
 * keeps its first key.
 */
export const resetSandbox: ServiceOperation<'resetSandbox'> = {
  kind: 'service',
  run: ({ runtime, sandbox }, record): Promise<ResetSandboxResponses[200]> =>
    sandbox.exclusive(async () => {
      const { store, ports, secret } = runtime;
      const anew = { ...ports, clock: sandbox.clock.base };
      let forgotten: readonly ForgottenMachine[] = [];
      async function reset({ db }: Transaction) {
        await freeze(db, store.sharing);
        const demoKey = await db
          .selectFrom('api_keys')
          .selectAll()
          .where('account_id', '=', DEMO_ACCOUNT)
          .where('label', '=', 'demo')
          .orderBy('created')
          .orderBy('id')
          .limit(1)
          .executeTakeFirst();
        forgotten = await forgetMachines(db);
        await empty(db);
        await fillSandbox(db, anew);
        await fillDemoAccount(db, { ports: anew, secret });
        if (demoKey) {
          const fresh = { revoked: null, valid_until: null, rate_requests: null, rate_seconds: null };
          await db
            .insertInto('api_keys')
            .values({ ...demoKey, ...fresh })
            .execute();
        }
        await record(db, { before: null, after: clockAt(sandbox.clock.base.now(), 0) });
      }
      await withClockTurnedBack({ runtime, sandbox }, 0, () => store.commit(reset));
      sandbox.clock.setOffset(0);
      await sandbox.propagate();
      await removeForgotten(runtime, forgotten, 'The sandbox was reset');
      return toClock(sandbox);
    }),
};
