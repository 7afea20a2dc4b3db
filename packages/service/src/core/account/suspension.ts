/** Suspended accounts. The service refuses their requests, and leaves everything that they own unchanged. */
import type { Db } from '../../store/store.ts';

/** @param now Milliseconds. An account that is already suspended keeps its earlier instant. */
export async function suspendAccount(db: Db, accountId: string, { reason, now }: { reason: string; now: number }): Promise<void> {
  await db
    .updateTable('accounts')
    .set(({ fn, ref, val }) => ({ suspended_at: fn.coalesce(ref('suspended_at'), val(now)), suspension_reason: reason }))
    .where('id', '=', accountId)
    .execute();
}

export async function unsuspendAccount(db: Db, accountId: string): Promise<void> {
  await db.updateTable('accounts').set({ suspended_at: null, suspension_reason: null }).where('id', '=', accountId).execute();
}
