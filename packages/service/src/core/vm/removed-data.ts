import type { Db } from '../../store/store.ts';
import { forgetBackups } from './backups.ts';
import { forgetUsage } from './usage.ts';
import { forgetUserData } from './user-data.ts';

/** Forgets the data of a VM that is removed, which its invoices do not need. */
export async function forgetVmData(db: Db, vmId: number): Promise<void> {
  await forgetBackups(db, vmId);
  await forgetUsage(db, vmId);
  await forgetUserData(db, vmId);
  await db.deleteFrom('vm_monitors').where('vm_id', '=', vmId).execute();
}
