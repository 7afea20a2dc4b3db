import { toInstant } from '../../rules/instants.ts';
import type { ReadOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';

const MINUTE_MS = 60_000;

const order: Order = { columns: { minute: 'integer', api: 'text', network: 'text' }, direction: 'desc' };

/** GET /failed-authentications */
export const listFailedAuthentications: ReadOperation<'listFailedAuthentications'> = {
  kind: 'read',
  async run(db, { query }) {
    const groups = db.selectFrom('failed_authentications').selectAll();
    const { rows, next_cursor } = await readPage(groups, order, query);
    return {
      items: rows.map(({ minute, api, network, count }) => ({ minute: toInstant(minute * MINUTE_MS), api, network, count })),
      next_cursor,
    };
  },
};
