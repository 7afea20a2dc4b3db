import { exportAccount as exportTables } from '../core/account/export.ts';
import { toInstant } from '../rules/instants.ts';
import { accountOf } from './account.ts';
import type { StreamOperation } from './operation.ts';

/** GET /accounts/{account_id}/export */
export const exportAccount: StreamOperation<'exportAccount'> = {
  kind: 'stream',
  async run({ path, now, runtime: { store } }, record) {
    const { id } = await store.commit(async ({ db }) => {
      const account = await accountOf(db, path.account_id);
      await record(db, { before: null, after: null });
      return account;
    });
    return exportTables(store, id, { account_id: id, exported_at: toInstant(now) });
  },
};
