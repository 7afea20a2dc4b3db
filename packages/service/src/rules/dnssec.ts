/** DNSSEC of domains. The specification does not show it. */
import { dsRecordOf } from '@reseller/adapters';
import type { DsRecord } from '@reseller/adapters';

import type { Seconds } from './billing.ts';
import type { BrokenField } from './broken-field.ts';

/**
 * Resolvers keep nameservers and DS records for up to a day, the TTL of most registries, and a registry may need as long to publish a change.
 */
export const DELEGATION_CACHE_SECONDS: Seconds = 2 * 86_400;

/** Who signs the zone of a domain, and the DS records that the registry has. */
export interface Signing {
  /** Null if DNSSEC is off, and no resolver has DS records. */
  readonly managedBy: 'service' | 'account' | null;
  /** None after DNSSEC was turned off. */
  readonly records: readonly DsRecord[];
}

export interface Dnssec extends Signing {
  /** From then on, resolvers have neither nameservers nor DS records of before. */
  readonly settled: Seconds;
}

export function dnssecStatus({ managedBy, records, settled }: Dnssec, at: Seconds): 'enabled' | 'disabling' | 'disabled' {
  if (records.length > 0) return 'enabled';
  return managedBy !== null && at < settled ? 'disabling' : 'disabled';
}

/**
 * Whether the same keys sign the zone on other nameservers. The service knows that only of the provider's nameservers.
 *
 * @param standard The provider's nameservers.
 */
export function haveSameKeys(present: readonly string[], next: readonly string[], standard: readonly string[]): boolean {
  if (areAllIn(present, standard) && areAllIn(next, standard)) return true;
  return areAllIn(present, next) && areAllIn(next, present);
}

export function areAllIn(nameservers: readonly string[], others: readonly string[]): boolean {
  return nameservers.every((one) => others.includes(one));
}

/** The DS records in a form, and every rule that they break beyond the pattern of the document. */
export function readDsRecords(text: string): { readonly records: readonly DsRecord[]; readonly broken: readonly BrokenField[] } {
  const records = text.split(',').map((one) => dsRecordOf(one.trim()));
  const isDistinct = new Set(records.map((record) => JSON.stringify(record))).size === records.length;
  const broken: BrokenField = { field: 'ds_records', rule: 'distinct', message: 'must not have the same DS record twice' };
  return { records, broken: isDistinct ? [] : [broken] };
}
