import { sql } from 'kysely';

import { readAuditRetention } from '../../store/settings.ts';
import type { Store } from '../../store/store.ts';

/** Records of one transaction. */
const BATCH_SIZE = 500;

/**
 * Deletes audit records that exceed the retention, in small transactions.
 *
 * @param now Milliseconds by the clock of the machine.
 */
export async function deleteOldRecords(store: Store, now: number): Promise<void> {
  const months = await store.read(readAuditRetention);
  if (months === null) return;
  const date = new Date(now);
  const end = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months);
  let deleted: bigint | undefined;
  do {
    const { numAffectedRows } = await store.commit(({ db }) => {
      const old = db.selectFrom('audit_records').select('id').where('time', '<', end).orderBy('time').limit(BATCH_SIZE);
      return sql`delete from audit_records where id in (${old})`.execute(db);
    });
    deleted = numAffectedRows;
  } while (deleted === BigInt(BATCH_SIZE));
}
