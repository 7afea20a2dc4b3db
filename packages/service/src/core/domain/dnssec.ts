/** Functions that operations on the DNSSEC of domains share. */
import type { Registrar } from '@reseller/adapters';
import type { DomainDnssec } from '@reseller/client/extension';
import * as v from 'valibot';

import type { Runtime } from '../../delivery/runtime.ts';
import type { Seconds } from '../../rules/billing.ts';
import { DELEGATION_CACHE_SECONDS, dnssecStatus, haveSameKeys } from '../../rules/dnssec.ts';
import type { Dnssec, Signing } from '../../rules/dnssec.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import { listOfNameservers } from '../../rules/nameserver.ts';
import { Refusal } from '../../rules/refusal.ts';
import { nameserversOf } from './domain.ts';
import type { DomainRow } from './domain.ts';

/** The signing of a domain in the details of a delivery. */
export const signingDetails: v.GenericSchema<unknown, Signing> = v.object({
  managedBy: v.nullable(v.picklist(['service', 'account'])),
  records: v.array(v.object({ keyTag: v.number(), algorithm: v.number(), digestType: v.number(), digest: v.string() })),
});

type DnssecRow = Pick<DomainRow, 'dnssec_by' | 'ds_records' | 'delegation_settled'>;

/** Converts a stored domain to the input of the rules. */
export function dnssecOf({ dnssec_by: managedBy, ds_records, delegation_settled: settled }: DnssecRow): Dnssec {
  return { ...v.parse(signingDetails, { managedBy, records: JSON.parse(ds_records) }), settled };
}

export function dnssecColumns({ managedBy, records }: Signing): Pick<DnssecRow, 'dnssec_by' | 'ds_records'> {
  return { dnssec_by: managedBy, ds_records: JSON.stringify(records) };
}

/** The column of a change after which resolvers may still have nameservers or DS records of before. @param now Milliseconds. */
export function unsettledFrom(now: number): Pick<DnssecRow, 'delegation_settled'> {
  return { delegation_settled: Math.floor(now / 1000) + DELEGATION_CACHE_SECONDS };
}

/** The DNSSEC of a domain in responses. */
export function toDomainDnssec(domain: string, dnssec: Dnssec, at: Seconds): DomainDnssec {
  const status = dnssecStatus(dnssec, at);
  return {
    domain,
    status,
    managed_by: status === 'enabled' ? dnssec.managedBy : null,
    ds_records: dnssec.records.map(({ keyTag, algorithm, digestType, digest }) => ({
      key_tag: keyTag,
      algorithm,
      digest_type: digestType,
      digest,
    })),
    disabled_at: status === 'disabling' ? secondsToInstant(dnssec.settled) : null,
  };
}

/** @throws Refusal 501 if the registrar takes no DS records. */
export function requireDsRecords(registrar: Registrar): NonNullable<Registrar['setDsRecords']> {
  const set = registrar.setDsRecords?.bind(registrar);
  if (set) return set;
  throw new Refusal(
    501,
    'not_implemented',
    'The registrar of this service takes no DS records, so DNSSEC cannot be turned on or off. Ask the provider.',
  );
}

/**
 * The columns that change with the nameservers of a domain. DNSSEC can only be turned on again when resolvers have the new nameservers.
 *
 * @param now Milliseconds.
 * @throws Refusal 409 if resolvers may have DS records of the domain, which the new nameservers do not suit.
 */
export function delegationChange(
  domain: DomainRow,
  nameservers: readonly string[],
  { ports, now }: Pick<Runtime, 'ports'> & { readonly now: number },
): Partial<DnssecRow> {
  if (haveSameKeys(listOfNameservers(nameserversOf(domain)), nameservers, ports.registrar.standardNameservers)) return {};
  const dnssec = dnssecOf(domain);
  const status = dnssecStatus(dnssec, Math.floor(now / 1000));
  if (status === 'disabled') return { dnssec_by: null, ...unsettledFrom(now) };
  const { name } = domain;
  throw new Refusal(
    409,
    'wrong_state',
    status === 'enabled'
      ? `DNSSEC of ${name} is on, and the new nameservers may sign the zone with other keys or not at all. Turn it off with POST /domain/${name}/dnssec/disable, wait until its status is disabled, then send this request again.`
      : `Resolvers may have DS records of ${name} until ${secondsToInstant(dnssec.settled)}, and the new nameservers may sign the zone with other keys or not at all. Send this request again after that.`,
  );
}
