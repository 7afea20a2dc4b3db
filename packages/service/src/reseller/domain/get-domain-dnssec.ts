import { dnssecOf, toDomainDnssec } from '../../core/domain/dnssec.ts';
import { findDomain } from '../../core/domain/domain.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /domain/{domain}/dnssec: whether DNSSEC is on, and the DS records at the registry. */
export const getDomainDnssec: ReadOperation<'getDomainDnssec'> = {
  kind: 'read',
  settles: true,
  async run(db, call) {
    const domain = await findDomain(db, call);
    const data = toDomainDnssec(domain.name, dnssecOf(domain), Math.floor(call.now / 1000));
    return { message: data.status === 'enabled' ? 'DNSSEC is on.' : 'DNSSEC is off.', data };
  },
};
