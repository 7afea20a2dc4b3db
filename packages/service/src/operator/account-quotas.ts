import { setQuotas as writeQuotas } from '../core/account/quota.ts';
import { accountOf, lockedAccountOf } from './account.ts';
import type { StoreOperation } from './operation.ts';

/** PUT /accounts/{account_id}/quotas */
export const setQuotas: StoreOperation<'setQuotas'> = {
  kind: 'store',
  before: (db, { path }) => lockedAccountOf(db, path.account_id),
  async run({ db }, { path, body }) {
    const { vms, handles, records_per_domain: recordsPerDomain } = body;
    await writeQuotas(db, path.account_id, { vms, handles, recordsPerDomain });
    return accountOf(db, path.account_id);
  },
};
