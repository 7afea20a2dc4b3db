/** DNSSEC of domains in the model. */
import { standardNameservers } from '../ports/registrar.ts';
import { iso } from './model-billing.ts';
import type { ModelDomain, Seconds } from './model.ts';

/** Resolvers keep nameservers and DS records for so long. */
export const CACHE_SECONDS = 2 * 86_400;

/** Whether a domain may get other nameservers: the same keys sign on them, or no resolver has DS records. */
export function mayGetNameservers({ nameservers, dnssec }: ModelDomain, next: readonly string[], now: Seconds): boolean {
  return haveSameKeys(nameservers, next) || (dnssec.records.length === 0 && (dnssec.by === null || now >= dnssec.settled));
}

/** Notes that resolvers may ask the nameservers of before, if other keys sign on the next ones. */
export function beginNameservers({ nameservers, dnssec }: ModelDomain, next: readonly string[], now: Seconds): void {
  if (!haveSameKeys(nameservers, next)) Object.assign(dnssec, { by: null, settled: now + CACHE_SECONDS });
}

/** The DNSSEC of a new domain. @param isTransferred Whether it had other nameservers. */
export function newDnssec(isTransferred: boolean, now: Seconds): ModelDomain['dnssec'] {
  return { by: null, records: [], settled: isTransferred ? now + CACHE_SECONDS : 0 };
}

/** The DNSSEC of a domain as the API shows it. */
export function expectedDnssec({ name, dnssec: { by, records, settled } }: ModelDomain, now: Seconds): object {
  const isDisabling = records.length === 0 && by !== null && now < settled;
  return {
    domain: name,
    status: records.length > 0 ? 'enabled' : isDisabling ? 'disabling' : 'disabled',
    managed_by: records.length > 0 ? by : null,
    ds_records: records.map(({ keyTag, algorithm, digestType, digest }) => ({
      key_tag: keyTag,
      algorithm,
      digest_type: digestType,
      digest,
    })),
    disabled_at: isDisabling ? iso(settled) : null,
  };
}

function haveSameKeys(present: readonly string[], next: readonly string[]): boolean {
  return (isAllStandard(present) && isAllStandard(next)) || JSON.stringify(present.toSorted()) === JSON.stringify([...next].toSorted());
}

export function isAllStandard(nameservers: readonly string[]): boolean {
  return nameservers.every((one) => standardNameservers.includes(one));
}
