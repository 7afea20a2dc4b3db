import { v7 as uuidv7 } from 'uuid';

import type { Random } from '../../rules/random.ts';
import { readAuditRetention } from '../../store/settings.ts';
import type { Db, Store } from '../../store/store.ts';
import { tuningOf } from '../../store/tuning.ts';
import { appendToChain, RETENTION } from './audit-chain.ts';
import type { Link } from './audit-chain.ts';

/**
 * Deletes audit records that exceed the retention, in small transactions.
 *
 * @param now Milliseconds by the clock of the machine.
 */
export async function deleteOldRecords(store: Store, random: Random, now: number): Promise<void> {
  const months = await store.read(readAuditRetention);
  if (months === null) return;
  const date = new Date(now);
  const end = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months);
  let deleted: number;
  do {
    deleted = await store.commit(({ db }) => deleteBatch(db, random, { end, now }));
  } while (deleted === store.tuning.cleanUpBatch);
}

/**
 * Deletes records from the beginning of the chain only, so that the rest can be verified. A record names the newest of them: without it, a
 * removed beginning would pass as deleted by the retention.
 *
 * @returns The number of deleted records.
 */
async function deleteBatch(db: Db, random: Random, { end, now }: { readonly end: number; readonly now: number }): Promise<number> {
  const kept = db.selectFrom('audit_records').select('seq').where('time', '>=', end).where('seq', 'is not', null).orderBy('seq').limit(1);
  const { seq: firstKept } = (await kept.executeTakeFirst()) ?? { seq: null };
  const old = await db
    .selectFrom('audit_records')
    .select(['id', 'seq', 'hash'])
    .where('time', '<', end)
    .where('seq', 'is not', null)
    .$if(firstKept !== null, (query) => query.where('seq', '<', firstKept ?? 0))
    .orderBy('seq')
    .limit(tuningOf(db).cleanUpBatch)
    .execute();
  const last = old.at(-1);
  if (!last) return 0;
  const deleted = { seq: last.seq ?? 0, hash: last.hash ?? '' };
  const { numUpdatedRows } = await db
    .updateTable('audit_chain')
    .set({ deleted_seq: deleted.seq, deleted_hash: deleted.hash })
    .where('deleted_seq', '<', deleted.seq)
    .executeTakeFirstOrThrow();
  // Another instance has deleted them.
  if (numUpdatedRows === 0n) return 0;
  const ids = old.map(({ id }) => id);
  await db.deleteFrom('audit_records').where('id', 'in', ids).execute();
  await recordDeletion(db, random, { now, deleted });
  return old.length;
}

async function recordDeletion(db: Db, random: Random, { now, deleted }: { readonly now: number; readonly deleted: Link }): Promise<void> {
  function newId(): string {
    return uuidv7({ msecs: now, random: random.bytes(16) });
  }
  const content = {
    id: newId(),
    time: now,
    actor: 'service',
    actor_name: 'Retention',
    address: '',
    operation: RETENTION,
    target: null,
    state_before: 'null',
    state_after: JSON.stringify({ deleted }),
    request_id: newId(),
  };
  await appendToChain(db, content, random);
}
