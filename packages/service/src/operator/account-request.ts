import type { AccountRequest, RequestPosition } from '@reseller/operator-client';

import { positionOf } from '../core/account/bought-position.ts';
import type { BoughtPosition } from '../core/account/bought-position.ts';
import { readLog } from '../core/account/request-log.ts';
import type { NumberedLogEntry } from '../core/account/request-log.ts';
import { secondsToInstant } from '../rules/instants.ts';
import { accountOf } from './account.ts';
import type { ServiceOperation } from './operation.ts';
import { cursorKeys, pageOf, rowLimit } from './paging.ts';
import type { Order } from './paging.ts';
import { requireFound } from './problem.ts';
import { boughtIn, toRequestSummary } from './request-summary.ts';

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
      return { items: rows.map((entry) => toAccountRequest(entry)), next_cursor };
    }),
};

/** GET /accounts/{account_id}/requests/{number} */
export const getAccountRequest: ServiceOperation<'getAccountRequest'> = {
  kind: 'service',
  run: ({ path, runtime: { store } }, record) =>
    store.commit(async ({ db }) => {
      const { id: accountId } = await accountOf(db, path.account_id);
      await record(db, { before: null, after: null });
      const [found] = await readLog(db, store.requestLog, { accountId, before: path.number + 1, limit: 1 });
      const entry = requireFound(found, `request ${path.number} of this account`);
      return toAccountRequest(
        entry,
        entry.bought === null ? undefined : await positionOf(db, { ...entry, bought: boughtIn(entry.bought) }),
      );
    }),
};

function toAccountRequest(entry: NumberedLogEntry, position?: BoughtPosition): AccountRequest {
  const { idempotency_key, request_body, response_body, error_type } = entry;
  const summary = toRequestSummary({ ...entry, refusal: error_type === null ? null : response_body });
  return { ...summary, idempotency_key, request_body, response_body, position: position ? toPosition(position) : null };
}

function toPosition({ type, start, stop, invoice_id, invoice_number }: BoughtPosition): RequestPosition {
  return { type, start: secondsToInstant(start), stop: stop === null ? null : secondsToInstant(stop), invoice_id, invoice_number };
}
