import type { AuditRecord } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { toInstant } from '../../rules/instants.ts';
import type { AuditRecordsTable } from '../../store/tables/access.ts';
import type { ReadOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';

const order: Order = { columns: { time: 'integer', id: 'text' }, direction: 'desc' };

/** GET /audit */
export const listAuditRecords: ReadOperation<'listAuditRecords'> = {
  kind: 'read',
  async run(db, { query }) {
    const { actor, operation, target, from, to } = query;
    const records = db
      .selectFrom('audit_records')
      .selectAll()
      .$if(actor !== undefined, (select) => select.where('actor', '=', actor ?? ''))
      .$if(operation !== undefined, (select) => select.where('operation', '=', operation ?? ''))
      .$if(target !== undefined, (select) => select.where('target', '=', target ?? ''))
      .$if(from !== undefined, (select) => select.where('time', '>=', Date.parse(from ?? '')))
      .$if(to !== undefined, (select) => select.where('time', '<', Date.parse(to ?? '')));
    const { rows, next_cursor } = await readPage(records, order, query);
    return { items: rows.map(toAuditRecord), next_cursor };
  },
};

function toAuditRecord(row: Selectable<AuditRecordsTable>): AuditRecord {
  const { id, time, actor, actor_name, address, operation, target, state_before, state_after, request_id, seq, hash } = row;
  const [before, after]: unknown[] = [JSON.parse(state_before), JSON.parse(state_after)];
  return { id, time: toInstant(time), actor, actor_name, address, operation, target, before, after, request_id, seq, hash };
}
