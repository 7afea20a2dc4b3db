import { dnssecColumns, dnssecOf, requireDsRecords, signingDetails, toDomainDnssec, unsettledFrom } from '../../core/domain/dnssec.ts';
import { settleAndFindDomain } from '../../core/domain/domain.ts';
import type { DomainRow } from '../../core/domain/domain.ts';
import type { Signing } from '../../rules/dnssec.ts';
import { deliveredCall } from '../operation.ts';
import type { Call, DeliveredOperation, Success } from '../operation.ts';
import { registrarChange } from './registrar-change.ts';

export const dnssecRemoval = registrarChange<'disableDomainDnssec', Signing>({
  name: 'disableDomainDnssec',
  value: signingDetails,
  // The signer stays known while resolvers may have its DS records.
  wanted(_db, { runtime }, domain) {
    requireDsRecords(runtime.ports.registrar);
    return { managedBy: dnssecOf(domain).managedBy, records: [] };
  },
  begun: (_signing, { now }) => unsettledFrom(now),
  before: (_db, domain) => dnssecOf(domain),
  set: (registrar, name, { records }, token) => requireDsRecords(registrar)(name, records, token),
  columnsOf: dnssecColumns,
  success: (signing, call, domain) => removed(call, { ...domain, ...dnssecColumns(signing), ...unsettledFrom(call.now) }),
});

/** POST /domain/{domain}/dnssec/disable: removes the DS records from the registry. */
export const disableDomainDnssec: DeliveredOperation<'disableDomainDnssec', Success<'disableDomainDnssec'>> = {
  ...deliveredCall(dnssecRemoval.carryOut),
  async inPlace({ db }, call) {
    const domain = await settleAndFindDomain(db, call.runtime, call);
    return domain.state === 'registered' && dnssecOf(domain).records.length === 0 ? removed(call, domain) : undefined;
  },
};

function removed({ now }: Call<'disableDomainDnssec'>, domain: DomainRow): Success<'disableDomainDnssec'> {
  return { message: 'The DS records were removed.', data: toDomainDnssec(domain.name, dnssecOf(domain), Math.floor(now / 1000)) };
}
