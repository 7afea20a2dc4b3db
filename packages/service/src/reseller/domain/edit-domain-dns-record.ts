import { recordOf, replaceRecord } from '../../core/domain/dns.ts';
import { settleAndFindDomain } from '../../core/domain/domain.ts';
import { readDnsRecord } from '../../rules/dns-record.ts';
import { invalid } from '../../rules/refusal.ts';
import type { StoreOperation } from '../operation.ts';
import { toDnsRecord } from './dns-record-response.ts';

/** POST /domain/{domain}/dns/{record_id}/edit: changes one DNS record. */
export const editDomainDnsRecord: StoreOperation<'editDomainDnsRecord'> = {
  kind: 'store',
  async run({ db }, call) {
    const { runtime, accountId, path } = call;
    const { ttl, ...form } = call.form;
    const { name: domain } = await settleAndFindDomain(db, runtime, call);
    const zone = { accountId, domain };
    const present = await recordOf(db, zone, path.record_id);
    const { type, sub, data } = present;
    const read = readDnsRecord({ type, sub, data, ...form }, domain);
    if ('broken' in read) throw invalid(read.broken);
    const changed = await replaceRecord(db, runtime.ports, { zone, record: read.record, ttl }, present);
    return { message: 'The DNS record was changed.', data: toDnsRecord(changed) };
  },
};
