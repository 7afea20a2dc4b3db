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

const ALGORITHMS: ReadonlySet<string> = new Set(['8', '10', '13', '14', '15', '16']);
/** By digest type. */
const DIGEST_LENGTHS = new Map([
  ['2', 64],
  ['4', 96],
]);
const MAX_RECORDS = 8;
const MAX_KEY_TAG = 65_535;

/** The DS records in a form, and every rule that they break beyond the pattern of the document. */
export function readDsRecords(text: string): { readonly records: readonly DsRecord[]; readonly broken: readonly BrokenField[] } {
  const lines = text
    .split(/[,\n]/)
    .map((line) => line.replace(/;.*/, '').trim())
    .filter((line) => line !== '');
  const records = lines.map(dsRecordIn).filter((record) => record !== undefined);
  if (records.length < lines.length || records.length === 0 || records.length > MAX_RECORDS)
    return { records: [], broken: [{ field: 'ds_records', rule: 'pattern', message: `must be ${EXPECTED}` }] };
  const isDistinct = new Set(records.map((record) => JSON.stringify(record))).size === records.length;
  const broken: BrokenField = { field: 'ds_records', rule: 'distinct', message: 'must not have the same DS record twice' };
  return { records, broken: isDistinct ? [] : [broken] };
}

const EXPECTED =
  '1 to 8 DS records with commas or line breaks between them, each with its key tag, its algorithm (8, 10, 13, 14, 15 or 16), its digest type and its digest (2 with 64 hexadecimal digits, or 4 with 96), such as 60485 13 2 d4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a';

/** The record in a line of a zone file, which may begin with a name, a TTL and a class. The digest may have blanks (RFC 4034, 5.3). */
function dsRecordIn(line: string): DsRecord | undefined {
  const values = line.split(/\s+/);
  const type = values.findLastIndex((value) => value.toUpperCase() === 'DS');
  const [tag = '', algorithm = '', digestType = '', ...words] = values.slice(type + 1);
  const digest = words.join('');
  const isRecord =
    /^\d{1,5}$/.test(tag) &&
    Number(tag) <= MAX_KEY_TAG &&
    ALGORITHMS.has(algorithm) &&
    digest.length === DIGEST_LENGTHS.get(digestType) &&
    /^[0-9a-f]+$/i.test(digest);
  return isRecord ? dsRecordOf([tag, algorithm, digestType, digest].join(' ')) : undefined;
}
