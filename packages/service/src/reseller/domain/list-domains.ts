import type { ReadOperation } from '../operation.ts';

/** GET /domain/list: the names of the account's domains. */
export const listDomains: ReadOperation<'listDomains'> = {
  kind: 'read',
  settles: true,
  isLong: true,
  async run(db, call) {
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
