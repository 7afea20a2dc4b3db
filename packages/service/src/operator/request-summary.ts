import type { Bought as ShownBought, RequestSummary } from '@reseller/operator-client';

import type { RequestSummary as Entry } from '../core/account/search-requests.ts';
import { toInstant } from '../rules/instants.ts';
import { decimalOf } from '../rules/money.ts';
import type { Bought } from '../store/log-row.ts';

/** An entry of the request log as the operator API shows it, without its bodies. */
export function toRequestSummary(entry: Entry): RequestSummary {
  const { account_id, number, request_id, date, success, method, endpoint, error_type, status, duration, key_id, is_replay, bought } =
    entry;
  const refusal: { message?: string } = entry.refusal === null ? {} : JSON.parse(entry.refusal);
  return {
    account_id,
    number,
    request_id,
    time: toInstant(date),
    success: success === 1,
    method,
    endpoint,
    error_type,
    error_message: refusal.message ?? null,
    status,
    duration_ms: duration,
    api_key_id: key_id,
    is_replay: is_replay === null ? null : is_replay === 1,
    bought: bought === null ? null : toBought(boughtIn(bought)),
  };
}

/** @param text JSON of the column `bought`. */
export function boughtIn(text: string): Bought {
  return JSON.parse(text);
}

function toBought({ kind, subject, price }: Bought): ShownBought {
  return { kind, subject, price: decimalOf(BigInt(price)) };
}
