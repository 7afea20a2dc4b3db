import type { Selectable } from 'kysely';

import { notFound } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { VmsTable } from '../../store/tables/vms.ts';
import { assertNotBlocked } from './change.ts';

/** No VM has this identifier. */
const NO_VM = 0;

/** Parses the identifier in a path. Any text other than five digits gives an identifier that no VM has. */
export function vmIdOf(text: string): number {
  return /^\d{5}$/.test(text) ? Number(text) : NO_VM;
}

/**
 * Finds a VM of an account. A VM counts as missing if its purchase still has no response, or it was removed.
 *
 * @param vmid The identifier in the path.
 * @throws Refusal 404 if the account has no such VM.
 */
export async function findOwnVm(db: Db, accountId: string, vmid: string): Promise<Selectable<VmsTable>> {
  const vm = await ownVms(db, accountId).selectAll().where('id', '=', vmIdOf(vmid)).executeTakeFirst();
  if (!vm) throw notFound('VM');
  return vm;
}

/** Like `findOwnVm`, for what the account may not do while the provider has blocked the VM. @throws Refusal 409 if it is blocked. */
export async function findUnblockedVm(db: Db, accountId: string, vmid: string): Promise<Selectable<VmsTable>> {
  const vm = await findOwnVm(db, accountId, vmid);
  assertNotBlocked(vm);
  return vm;
}

/** Selects the VMs of an account. */
export function ownVms(db: Db, accountId: string) {
  return db.selectFrom('vms').where('account_id', '=', accountId).where('state', 'in', ['installing', 'running', 'stopped']);
}
