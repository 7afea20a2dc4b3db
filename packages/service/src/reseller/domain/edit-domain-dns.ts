import { invalid } from '../../rules/refusal.ts';
import { displaces, readDnsRecord } from '../../rules/dns-record.ts';
import type { StoreOperation } from '../operation.ts';
import { settleAndFindDomain } from '../../core/domain/domain.ts';

/** POST /domain/{domain}/dns/edit: sets a DNS record, which replaces the records that conflict with it. */
export const editDomainDns: StoreOperation<'editDomainDns'> = {
  kind: 'store',
  async run({ db }, call) {
    const { name } = await settleAndFindDomain(db, call.runtime, call);
    const read = readDnsRecord(call.form, name);
    if ('broken' in read) throw invalid(read.broken);
    const { sub, type, data } = read.record;
    const present = await db.selectFrom('dns_records').select('type').where('domain', '=', name).where('sub', '=', sub).execute();
    const displaced = present.flatMap((other) => (displaces(type, other.type) ? [other.type] : []));
    if (displaced.length > 0) {
      await db.deleteFrom('dns_records').where('domain', '=', name).where('sub', '=', sub).where('type', 'in', displaced).execute();
    }
    await db.insertInto('dns_records').values({ domain: name, sub, type, data, changed: call.now }).execute();
    return { message: 'The DNS records were edited.', data: null };
  },
};
