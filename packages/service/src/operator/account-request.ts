import type { AccountRequest } from '@reseller/operator-client';

import { readLog } from '../core/account/request-log.ts';
import type { LogEntry } from '../store/log-row.ts';
import { accountOf } from './account.ts';
import { toInstant } from './instants.ts';
import type { ServiceOperation } from './operation.ts';
import { cursorKeys, pageOf, rowLimit } from './paging.ts';
import type { Order } from './paging.ts';
import { requireFound } from './problem.ts';

const order: Order = { columns: { number: 'integer' }, direction: 'desc' };

/** GET /accounts/{account_id}/requests: runs in a transaction that may write, because the newest entries must be numbered first. */
export const listAccountRequests: ServiceOperation<'listAccountRequests'> = {
  kind: 'service',
  run: ({ path, query, runtime: { store } }, record) =>
    store.commit(async ({ db }) => {
      const { id: accountId } = await accountOf(db, path.account_id);
      await record(db, { before: null, after: null });
      const [number] = cursorKeys(order, query);
      const before = typeof number === 'number' ? { before: number } : {};
      const entries = await readLog(db, store.requestLog, { accountId, ...before, limit: rowLimit(query) });
      const { rows, next_cursor } = pageOf(entries, query, (entry) => [entry.number]);
      return { items: rows.map(toAccountRequest), next_cursor };
    }),
};

/** GET /accounts/{account_id}/requests/{number} */
export const getAccountRequest: ServiceOperation<'getAccountRequest'> = {
  kind: 'service',
  run: ({ path, runtime: { store } }, record) =>
    store.commit(async ({ db }) => {
      const { id: accountId } = await accountOf(db, path.account_id);
      await record(db, { before: null, after: null });
      const [entry] = await readLog(db, store.requestLog, { accountId, before: path.number + 1, limit: 1 });
      return toAccountRequest(requireFound(entry, `request ${path.number} of this account`));
    }),
};

function toAccountRequest({
  date,
  success,
  request_id,
  method,
  endpoint,
  request_body,
  error_type,
  response_body,
}: LogEntry): AccountRequest {
  return { request_id, time: toInstant(date), success: success === 1, method, endpoint, request_body, error_type, response_body };
}
