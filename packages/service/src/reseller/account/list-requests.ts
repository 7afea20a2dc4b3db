import { readLog } from '../../core/account/request-log.ts';
import { REQUEST_LOG_PAGE_SIZE } from '../../generated/facts.gen.ts';
import { counted } from '../../rules/counted.ts';
import { sha256 } from '../../rules/credentials.ts';
import { toInstant } from '../../rules/instants.ts';
import type { StoreOperation } from '../operation.ts';

/** POST /account/requests: a page of entries, newest first; `offset` is the number of newest entries to skip. */
export const listRequests: StoreOperation<'listRequests'> = {
  kind: 'store',
  async run({ db }, { accountId, form, runtime: { store, hasExtension } }) {
    const entries = await readLog(db, store.requestLog, { accountId, offset: form.offset ?? 0, limit: REQUEST_LOG_PAGE_SIZE });
    return {
      message: `${counted(entries.length, 'request')}.`,
      data: entries.map((entry) => ({
        requestID: entry.request_id,
        requestDate: toInstant(entry.date),
        success: entry.success,
        endpoint: entry.endpoint,
        method: entry.method,
        request_body: entry.request_body,
        error_type: entry.error_type,
        response_body: entry.response_body,
        ...(hasExtension && { idempotency_key_hash: entry.idempotency_key === null ? null : sha256(entry.idempotency_key) }),
      })),
    };
  },
};
