import { newestPlace, requestsAfter, searchRequests } from '../../core/account/search-requests.ts';
import type { RequestSearch } from '../../core/account/search-requests.ts';
import { PAGE_SIZE } from '../../generated/operator/facts.gen.ts';
import { changesAfter, newestChange } from '../access/changes.ts';
import type { ServiceOperation } from '../operation.ts';
import { cursorKeys, cursorOf } from '../paging.ts';
import type { Order, PageQuery } from '../paging.ts';
import { toRequestSummary } from '../request-summary.ts';

/** The place in the log of an account, or among the requests of all accounts. */
const order: Order = { columns: { place: 'integer' }, direction: 'desc' };

/** The place among the requests of all accounts, and the number of the audit record. */
const feedOrder: Order = { columns: { place: 'integer', seq: 'integer' }, direction: 'asc' };

/** GET /requests: numbers the newest entries first, so that they are among the results. */
export const listRequests: ServiceOperation<'listRequests'> = {
  kind: 'service',
  async run({ query, runtime: { store, portTimeoutMs } }) {
    await store.requestLog.numberAll();
    const limit = query.limit ?? PAGE_SIZE;
    const { rows, before } = await store.read((db) =>
      searchRequests(db, searchOf(query), { before: placeIn(query), limit, portTimeoutMs }),
    );
    return { items: rows.map(toRequestSummary), next_cursor: before === undefined ? null : cursorOf([before]) };
  },
};

/** GET /requests/feed */
export const followRequests: ServiceOperation<'followRequests'> = {
  kind: 'service',
  async run({ query, runtime: { store } }) {
    await store.requestLog.numberAll();
    const end = await store.requestLog.feedEnd();
    const limit = query.limit ?? PAGE_SIZE;
    const [place, seq] = cursorKeys(feedOrder, query);
    return store.read(async (db) => {
      if (typeof place !== 'number' || typeof seq !== 'number')
        return { items: [], changes: [], next_cursor: cursorOf([await newestPlace(db, end), await newestChange(db)]) };
      const requests = await requestsAfter(db, { cursor: place, end, limit });
      const made = await changesAfter(db, { seq, limit });
      return { items: requests.rows.map(toRequestSummary), changes: [...made.changes], next_cursor: cursorOf([requests.cursor, made.seq]) };
    });
  },
};

function placeIn(query: PageQuery): number | undefined {
  const [place] = cursorKeys(order, query);
  return typeof place === 'number' ? place : undefined;
}

type RequestQuery = Parameters<(typeof listRequests)['run']>[0]['query'];

function searchOf({
  account_id,
  api_key_id,
  request_id,
  idempotency_key,
  endpoint,
  result,
  status,
  from,
  to,
}: RequestQuery): RequestSearch {
  return {
    accountId: account_id,
    keyId: api_key_id,
    requestId: request_id,
    idempotencyKey: idempotency_key,
    endpoint,
    success: result === undefined ? undefined : result === 'succeeded',
    status,
    from: from === undefined ? undefined : Date.parse(from),
    to: to === undefined ? undefined : Date.parse(to),
  };
}
