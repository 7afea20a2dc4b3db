/** The user data of VMs: text for cloud-init. It may hold secrets, so it is stored sealed, and responses show only its hash. */
import { createHash } from 'node:crypto';

import type { Services } from '../../delivery/runtime.ts';
import { seal, unseal } from '../../rules/credentials.ts';
import type { Secrets } from '../../rules/credentials.ts';
import type { Db } from '../../store/store.ts';

export function userDataContext(vmId: number): string {
  return `the user data of VM ${vmId}`;
}

/** @param userData `isPending` for that of a reinstallation, which becomes the user data of the VM when it is confirmed. */
export async function storeUserData(
  db: Db,
  { ports, secret }: Services,
  { vmId, text, isPending }: { readonly vmId: number; readonly text: string; readonly isPending: boolean },
): Promise<void> {
  const row = {
    vm_id: vmId,
    is_pending: Number(isPending),
    sealed_text: seal(text, secret, userDataContext(vmId), ports.random),
    sha256: createHash('sha256').update(text).digest('hex'),
  };
  await db.insertInto('vm_user_data').values(row).execute();
}

/** Null if the VM has none. */
export async function userDataOf(db: Db, secrets: Secrets, vmId: number): Promise<string | null> {
  const row = await confirmedOf(db, vmId);
  if (!row) return null;
  const text = unseal(row.sealed_text, secrets, userDataContext(vmId));
  if (text === undefined) throw new Error(`The user data of VM ${vmId} was encrypted with another secret.`);
  return text;
}

/** SHA-256 of the user data, in hexadecimal. Null if the VM has none. */
export async function userDataHash(db: Db, vmId: number): Promise<string | null> {
  return (await confirmedOf(db, vmId))?.sha256 ?? null;
}

function confirmedOf(db: Db, vmId: number) {
  return db.selectFrom('vm_user_data').selectAll().where('vm_id', '=', vmId).where('is_pending', '=', 0).executeTakeFirst();
}

/** Makes the user data of a reinstallation that of the VM, if it brought some. */
export async function confirmUserData(db: Db, vmId: number): Promise<void> {
  const pending = await db
    .selectFrom('vm_user_data')
    .select('vm_id')
    .where('vm_id', '=', vmId)
    .where('is_pending', '=', 1)
    .executeTakeFirst();
  if (!pending) return;
  await db.deleteFrom('vm_user_data').where('vm_id', '=', vmId).where('is_pending', '=', 0).execute();
  await db.updateTable('vm_user_data').set({ is_pending: 0 }).where('vm_id', '=', vmId).execute();
}

/** Forgets the user data of a reinstallation that failed. */
export async function forgetPendingUserData(db: Db, vmId: number): Promise<void> {
  await db.deleteFrom('vm_user_data').where('vm_id', '=', vmId).where('is_pending', '=', 1).execute();
}

/** Forgets the user data of a VM that is removed. */
export async function forgetUserData(db: Db, vmId: number): Promise<void> {
  await db.deleteFrom('vm_user_data').where('vm_id', '=', vmId).execute();
}
