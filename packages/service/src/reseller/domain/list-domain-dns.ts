import { recordsOf } from '../../core/domain/dns.ts';
import { findDomain } from '../../core/domain/domain.ts';
import { counted } from '../../rules/counted.ts';
import type { ReadOperation } from '../operation.ts';
import { toDnsRecord } from './dns-record-response.ts';

/** GET /domain/{domain}/dns/list: the DNS records of a domain. */
export const listDomainDns: ReadOperation<'listDomainDns'> = {
  kind: 'read',
  settles: true,
  async run(db, call) {
    const { name: domain } = await findDomain(db, call);
    const records = await recordsOf(db, { accountId: call.accountId, domain });
    return { message: `${counted(records.length, 'DNS record')}.`, data: records.map(toDnsRecord) };
  },
};
