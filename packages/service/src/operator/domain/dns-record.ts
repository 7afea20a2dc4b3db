import type { DnsRecord } from '@reseller/operator-client';

import { recordNameOf } from '../../core/domain/dns.ts';
import type { DnsRecordRow } from '../../core/domain/dns.ts';
import { toInstant } from '../../rules/instants.ts';
import type { ReadOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { domainOf } from './domain.ts';

const order: Order = { columns: { id: 'text' }, direction: 'asc' };

/** GET /domains/{domain}/dns-records */
export const listDnsRecords: ReadOperation<'listDnsRecords'> = {
  kind: 'read',
  async run(db, { path, query }) {
    const { name } = await domainOf(db, path.domain.toLowerCase());
    const records = db.selectFrom('dns_records').selectAll().where('domain', '=', name);
    const { rows, next_cursor } = await readPage(records, order, query);
    return { items: rows.map(toDnsRecord), next_cursor };
  },
};

function toDnsRecord(row: DnsRecordRow): DnsRecord {
  const { id, type, data, ttl, changed } = row;
  return { id, name: recordNameOf(row), type, data, ttl, changed: toInstant(changed) };
}
