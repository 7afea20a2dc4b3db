import type { StoreOperation } from '../operation.ts';
import { settle } from '../../core/jobs/settle.ts';

/** GET /domain/list: the names of the account's domains. */
export const listDomains: StoreOperation<'listDomains'> = {
  kind: 'store',
  async run({ db }, call) {
    await settle(db, call.runtime, call);
    const rows = await db
      .selectFrom('domains')
      .select('name')
      .where('account_id', '=', call.accountId)
      .where('state', '!=', 'reserved')
      .orderBy('name')
      .execute();
    return { message: 'The domains were listed.', data: { list: rows.map(({ name }) => name) } };
  },
};
