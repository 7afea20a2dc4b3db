import { ensureRecord } from '../../core/domain/dns.ts';
import { settleAndFindDomain } from '../../core/domain/domain.ts';
import { readDnsRecord } from '../../rules/dns-record.ts';
import { invalid } from '../../rules/refusal.ts';
import type { StoreOperation } from '../operation.ts';

/** POST /domain/{domain}/dns/edit: adds a DNS record unless the domain has it. No other record is lost. */
export const editDomainDns: StoreOperation<'editDomainDns'> = {
  kind: 'store',
  async run({ db }, call) {
    const { runtime, accountId, form } = call;
    const { name: domain } = await settleAndFindDomain(db, runtime, call);
    const read = readDnsRecord(form, domain);
    if ('broken' in read) throw invalid(read.broken);
    await ensureRecord(db, runtime.ports, { zone: { accountId, domain }, record: read.record });
    return { message: 'The DNS records were edited.', data: null };
  },
};
