import type { DnsRecord } from '@reseller/client/extension';

import { recordNameOf } from '../../core/domain/dns.ts';
import type { DnsRecordRow } from '../../core/domain/dns.ts';

/** A DNS record in responses. */
export function toDnsRecord(row: DnsRecordRow): DnsRecord {
  const { id, type, data, ttl } = row;
  return { record_id: id, type, name: recordNameOf(row), data, ttl };
}
