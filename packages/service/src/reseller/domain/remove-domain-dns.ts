import { recordOf } from '../../core/domain/dns.ts';
import { settleAndFindDomain } from '../../core/domain/domain.ts';
import type { StoreOperation } from '../operation.ts';

/** DELETE /domain/{domain}/dns/{record_id}/remove: removes one DNS record. */
export const removeDomainDns: StoreOperation<'removeDomainDns'> = {
  kind: 'store',
  async run({ db }, call) {
    const { runtime, accountId, path } = call;
    const { name: domain } = await settleAndFindDomain(db, runtime, call);
    const { id } = await recordOf(db, { accountId, domain }, path.record_id);
    await db.deleteFrom('dns_records').where('id', '=', id).execute();
    return { message: 'The DNS record was removed.', data: null };
  },
};
