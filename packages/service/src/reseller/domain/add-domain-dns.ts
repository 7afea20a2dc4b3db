import { addRecord } from '../../core/domain/dns.ts';
import { settleAndFindDomain } from '../../core/domain/domain.ts';
import { DEFAULTS } from '../../generated/facts.gen.ts';
import { readDnsRecord } from '../../rules/dns-record.ts';
import { invalid } from '../../rules/refusal.ts';
import type { StoreOperation } from '../operation.ts';
import { toDnsRecord } from './dns-record-response.ts';

/** PUT /domain/{domain}/dns/add: adds a DNS record. */
export const addDomainDns: StoreOperation<'addDomainDns'> = {
  kind: 'store',
  async run({ db }, call) {
    const { runtime, accountId } = call;
    const form = { ...DEFAULTS.AddDomainDnsForm, ...call.form };
    const { name: domain } = await settleAndFindDomain(db, runtime, call);
    const read = readDnsRecord(form, domain);
    if ('broken' in read) throw invalid(read.broken);
    const added = await addRecord(db, runtime.ports, { zone: { accountId, domain }, record: read.record, ttl: form.ttl });
    return { message: 'The DNS record was added.', data: toDnsRecord(added) };
  },
};
