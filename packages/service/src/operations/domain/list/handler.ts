import type { StoreOperation } from '../../operation.ts';
import { settleExpiries } from '../expiry.ts';

/** GET /domain/list: the names of the account's domains. */
export const listDomains: StoreOperation<'listDomains'> = {
  kind: 'store',
  async run({ db }, { accountId, now, ports }) {
    await settleExpiries(db, ports, Math.floor(now / 1000), { accountId });
    const rows = await db
      .selectFrom('domains')
      .select('name')
      .where('account_id', '=', accountId)
      .where('state', '!=', 'reserved')
      .orderBy('name')
      .execute();
    return { message: 'The domains were listed.', data: { list: rows.map(({ name }) => name) } };
  },
};
