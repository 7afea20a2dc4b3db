import { readAuditRetention } from '../../store/settings.ts';
import type { Db, Store } from '../../store/store.ts';

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
  let deleted: number;
  do {
    deleted = await store.commit(({ db }) => deleteBatch(db, end));
  } while (deleted === BATCH_SIZE);
}

/** Deletes records from the beginning of the chain only, so that the rest can be verified. @returns The number of deleted records. */
async function deleteBatch(db: Db, end: number): Promise<number> {
  const kept = db.selectFrom('audit_records').select('seq').where('time', '>=', end).where('seq', 'is not', null).orderBy('seq').limit(1);
  const { seq: firstKept } = (await kept.executeTakeFirst()) ?? { seq: null };
  const old = await db
    .selectFrom('audit_records')
    .select(['id', 'seq', 'hash'])
    .where('time', '<', end)
    .$if(firstKept !== null, (query) => query.where(({ eb, or }) => or([eb('seq', 'is', null), eb('seq', '<', firstKept ?? 0)])))
    .orderBy('seq')
    .orderBy('time')
    .limit(BATCH_SIZE)
    .execute();
  const last = old.findLast(({ seq }) => seq !== null);
  if (last && last.seq !== null && last.hash !== null)
    await db
      .updateTable('audit_chain')
      .set({ deleted_seq: last.seq, deleted_hash: last.hash })
      .where('deleted_seq', '<', last.seq)
      .execute();
  const ids = old.map(({ id }) => id);
  if (ids.length > 0) await db.deleteFrom('audit_records').where('id', 'in', ids).execute();
  return old.length;
}
