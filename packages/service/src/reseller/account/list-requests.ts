import { REQUEST_LOG_PAGE_SIZE } from '../../generated/facts.gen.ts';
import type { StoreOperation } from '../operation.ts';
import { counted } from '../../rules/counted.ts';

/** POST /account/requests: a page of entries, newest first; `offset` leaves out that many of the newest. */
export const listRequests: StoreOperation<'listRequests'> = {
  kind: 'store',
  async run({ db }, { accountId, form }) {
    const { newest } = await db
      .selectFrom('request_log')
      .select(({ fn }) => fn.max('number').as('newest'))
      .where('account_id', '=', accountId)
      .executeTakeFirstOrThrow();
    // Entries are numbered without a gap, so an offset is a place in the index, however deep it lies.
    const first = (newest ?? 0) - (form.offset ?? 0);
    const entries = await db
      .selectFrom('request_log')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('number', '<=', first)
      .orderBy('number', 'desc')
      .limit(REQUEST_LOG_PAGE_SIZE)
      .execute();
    return {
      message: `${counted(entries.length, 'request')}.`,
      data: entries.map((entry) => ({
        requestID: entry.request_id,
        requestDate: new Date(entry.date).toISOString(),
        success: entry.success,
        endpoint: entry.endpoint,
        method: entry.method,
        request_body: entry.request_body,
        error_type: entry.error_type,
        response_body: entry.response_body,
      })),
    };
  },
};
