import { eraseAccount as erase } from '../core/account/erase.ts';
import { issueDocuments } from '../core/accounting/invoice-document/issue.ts';
import { settleAccount } from '../core/jobs/settle.ts';
import { accountOf, lockedAccountOf } from './account.ts';
import type { ServiceOperation } from './operation.ts';

/** POST /accounts/{account_id}/erase: first invoices the periods that have ended. An account that is already erased stays unchanged. */
export const eraseAccount: ServiceOperation<'eraseAccount'> = {
  kind: 'service',
  async run({ path, now, sandbox, runtime }, record) {
    const { store } = runtime;
    const { id: accountId } = await store.read((db) => accountOf(db, path.account_id));
    await settleAccount(runtime, { accountId, now });
    await issueDocuments(store);
    const account = await store.commit(async ({ db }) => {
      const { erased_at } = await lockedAccountOf(db, accountId);
      const erasedRecords = erased_at === null ? await erase(db, store.requestLog, { accountId, now }) : {};
      const after = await accountOf(db, accountId);
      // The state before has the data that was erased. Without the names, an erased record would pass as a forged one.
      await record(db, { before: { id: accountId, erased_at }, after: { ...after, erased_records: erasedRecords } });
      return after;
    });
    await sandbox.propagate();
    return account;
  },
};
