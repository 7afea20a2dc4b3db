import { toInstant } from '../../rules/instants.ts';
import type { ReadOperation } from '../operation.ts';
import { afterCursor, inOrder, pageOf, rowLimit } from '../paging.ts';
import type { Order } from '../paging.ts';

const MINUTE_MS = 60_000;

const order: Order = { columns: { minute: 'integer', api: 'text', network: 'text' }, direction: 'desc' };

/** GET /failed-authentications */
export const listFailedAuthentications: ReadOperation<'listFailedAuthentications'> = {
  kind: 'read',
  async run(db, { query }) {
    const groups = await db
      .selectFrom('failed_authentications')
      .selectAll()
      .where(afterCursor(order, query))
      .orderBy(inOrder(order))
      .limit(rowLimit(query))
      .execute();
    const { rows, next_cursor } = pageOf(groups, query, ({ minute, api, network }) => [minute, api, network]);
    return {
      items: rows.map(({ minute, api, network, count }) => ({ minute: toInstant(minute * MINUTE_MS), api, network, count })),
      next_cursor,
    };
  },
};
