import type { FencingToken } from './fencing.ts';

/** All records of a name and a type. */
export interface RecordSet {
  /** ASCII form, without the final dot: `www.reseller-customer.net`. */
  readonly name: string;
  /** Such as `MX`. */
  readonly type: string;
  /** Seconds. */
  readonly ttl: number;
  /**
   * The data of each record in the form of zone files, such as `10 mail.reseller-customer.net`. Names have no final dot. The data of a TXT
   * record is its text, without quotes and of any length.
   */
  readonly data: readonly string[];
}

/** The zone of a domain, complete. */
export interface Zone {
  /** ASCII form, without the final dot. */
  readonly name: string;
  /** The nameservers of the domain, in their order. */
  readonly nameservers: readonly string[];
  /** Without SOA and without the NS records of the domain itself. */
  readonly records: readonly RecordSet[];
}

/** A DS record, with which the registry vouches for a key of a zone (RFC 4034, 5). */
export interface DsRecord {
  /** From 0 to 65535. */
  readonly keyTag: number;
  /** Number of the algorithm of the key. */
  readonly algorithm: number;
  /** Number of the hash function. */
  readonly digestType: number;
  /** Lower-case hexadecimal digits. */
  readonly digest: string;
}

/** Reads a DS record in the form of zone files: its key tag, algorithm, digest type and digest, with one space between them. */
export function dsRecordOf(text: string): DsRecord {
  const [keyTag, algorithm, digestType, digest = ''] = text.split(' ');
  return { keyTag: Number(keyTag), algorithm: Number(algorithm), digestType: Number(digestType), digest: digest.toLowerCase() };
}

/**
 * The system that answers DNS queries about the domains of accounts. Every call is idempotent and describes the whole zone, so a later call
 * replaces an earlier one, and a repeated call changes nothing. A call with a stale token is rejected (see fencing.ts). The service
 * calls it after each change of a zone, again after a failure, and gives up on a call after its port timeout.
 */
export interface Dns {
  /** Makes the zone have exactly these records. Creates it if it does not exist. */
  publish(zone: Zone, token: FencingToken): Promise<void>;
  /** Removes a zone. Does nothing if it does not exist. */
  remove(name: string, token: FencingToken): Promise<void>;
  /**
   * The DS records of the keys with which it signs a zone. None if it does not have the zone, or does not sign it. Needs no token, because it
   * changes nothing.
   *
   * Omit it if zones are not signed. With it, `publish` signs each new zone before anyone can ask for it: of a zone that is signed later,
   * resolvers may still have answers without signatures when the registry gets the DS records.
   */
  dsRecords?(name: string): Promise<readonly DsRecord[]>;
}

/** A part of a TXT record has at most this many bytes (RFC 1035, 3.3). */
const TEXT_PART_BYTES = 255;

/** The parts in which a TXT record carries a text of any length, as UTF-8. At least one. */
export function textParts(text: string): Uint8Array[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.max(1, Math.ceil(bytes.length / TEXT_PART_BYTES)) }, (_, index) =>
    bytes.subarray(index * TEXT_PART_BYTES, (index + 1) * TEXT_PART_BYTES),
  );
}
