import type { DsRecord } from '@reseller/adapters';

import { dnssecColumns, dnssecOf, requireDsRecords, signingDetails, toDomainDnssec, unsettledFrom } from '../../core/domain/dnssec.ts';
import { nameserversOf } from '../../core/domain/domain.ts';
import type { DomainRow } from '../../core/domain/domain.ts';
import { areAllIn, readDsRecords } from '../../rules/dnssec.ts';
import type { Signing } from '../../rules/dnssec.ts';
import { asciiNameOf } from '../../rules/domain-name.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import { listOfNameservers } from '../../rules/nameserver.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import { deliveredCall } from '../operation.ts';
import type { Call } from '../operation.ts';
import { registrarChange } from './registrar-change.ts';

interface EnableCall extends Call<'enableDomainDnssec'> {
  /** What the DNS server says about the zone. Undefined if it signs no zones. */
  readonly signed: PromiseSettledResult<readonly DsRecord[] | undefined>;
}

export const dnssecAddition = registrarChange<'enableDomainDnssec', Signing, EnableCall>({
  name: 'enableDomainDnssec',
  value: signingDetails,
  wanted(_db, call, domain) {
    const { registrar } = call.runtime.ports;
    requireDsRecords(registrar);
    const isOwn = !areAllIn(listOfNameservers(nameserversOf(domain)), registrar.standardNameservers);
    const own = isOwn ? ownRecords(call, domain) : noOwnRecords(call, domain);
    assertSettled(call, domain);
    return own === undefined ? { managedBy: 'service', records: signedRecords(call, domain) } : { managedBy: 'account', records: own };
  },
  // If it is undone, resolvers may have got the DS records in the meantime.
  begun: ({ managedBy }, { now }) => ({ dnssec_by: managedBy, ...unsettledFrom(now) }),
  before: (_db, domain) => dnssecOf(domain),
  set: (registrar, name, { records }, token) => requireDsRecords(registrar)(name, records, token),
  columnsOf: dnssecColumns,
  success: (signing, { now }, { name }) => ({
    message: 'DNSSEC was turned on.',
    data: toDomainDnssec(name, { ...signing, settled: 0 }, Math.floor(now / 1000)),
  }),
});

/** POST /domain/{domain}/dnssec/enable: gives the registry the DS records of the zone. */
export const enableDomainDnssec = deliveredCall<'enableDomainDnssec'>(async (steps, call) => {
  const { dns } = call.runtime.ports;
  const name = asciiNameOf(call.path.domain) ?? call.path.domain;
  // A repeated request gets its stored response even if the DNS server is away, so a failure is thrown later.
  const [signed] = await Promise.allSettled([dns.dsRecords?.(name)]);
  return dnssecAddition.carryOut(steps, { ...call, signed });
});

/** @throws Refusal 409 without DS records, 422 if they break a rule. */
function ownRecords({ form }: EnableCall, { name }: DomainRow): readonly DsRecord[] {
  if (form?.ds_records === undefined) {
    throw new Refusal(
      409,
      'wrong_state',
      `The nameservers of ${name} include others than those of the provider. Sign the zone there, and send its DS records as ds_records.`,
    );
  }
  const { records, broken } = readDsRecords(form.ds_records);
  if (broken.length > 0) throw invalid(broken);
  return records;
}

/** @throws Refusal 409 if there are DS records. */
function noOwnRecords({ form }: EnableCall, { name }: DomainRow): undefined {
  if (form?.ds_records === undefined) return;
  throw new Refusal(
    409,
    'wrong_state',
    `The provider signs the zone of ${name}, whose nameservers are its own. Send the request without ds_records.`,
  );
}

/** @throws Refusal 409 if resolvers may still ask the nameservers of before, which do not sign the zone with the same keys. */
function assertSettled({ now }: EnableCall, domain: DomainRow): void {
  const { managedBy, settled } = dnssecOf(domain);
  if (managedBy !== null || now >= settled * 1000) return;
  throw new Refusal(
    409,
    'wrong_state',
    `Resolvers may ask the earlier nameservers of ${domain.name} until ${secondsToInstant(settled)}. Turn DNSSEC on after that.`,
  );
}

/**
 * @throws Refusal 501 if the DNS server signs no zones, 409 if it has no signed zone.
 * @throws Error if the DNS server has failed.
 */
function signedRecords({ signed }: EnableCall, { name }: DomainRow): readonly DsRecord[] {
  if (signed.status === 'rejected') throw signed.reason;
  if (signed.value === undefined) {
    throw new Refusal(
      501,
      'not_implemented',
      'The DNS server of this service signs no zones. Use nameservers that sign the zone, and send its DS records, or ask the provider.',
    );
  }
  if (signed.value.length > 0) return signed.value;
  throw new Refusal(
    409,
    'wrong_state',
    `The DNS server has no signed zone of ${name}. It signs the zone of a new domain within seconds: send the request again. If it still has none, ask the provider.`,
  );
}
