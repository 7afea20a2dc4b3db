import { readRecentRequests } from '../../core/account/recent-requests.ts';
import type { RequestSummary } from '../../core/account/recent-requests.ts';
import { PAGE_SIZE } from '../../generated/operator/facts.gen.ts';
import { toInstant } from '../instants.ts';
import type { ServiceOperation } from '../operation.ts';

/** A request is listed when it has ended. The infrastructure may take this long, because a call that timed out is undone by a second one. */
const LONGEST_REQUEST_MS = 60_000;

/** GET /requests: numbers the newest entries first, so that they are among the results. */
export const listRequests: ServiceOperation<'listRequests'> = {
  kind: 'service',
  async run({ query, now, runtime: { store } }) {
    await store.requestLog.numberAll();
    const asked = query.since === undefined ? -Infinity : Date.parse(query.since);
    const since = asked > now ? 0 : Math.max(asked, 0);
    const rows = await store.read((db) => readRecentRequests(db, { accountId: query.account_id, since, limit: query.limit ?? PAGE_SIZE }));
    return { items: rows.map(toSummary), next_since: toInstant(now - LONGEST_REQUEST_MS) };
  },
};

function toSummary({ date, success, ...entry }: RequestSummary) {
  return { ...entry, time: toInstant(date), success: success === 1 };
}
