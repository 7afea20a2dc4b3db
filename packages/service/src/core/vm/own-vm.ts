import type { Selectable } from 'kysely';

import { notFound } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { VmsTable } from '../../store/tables/vms.ts';

/** Parses the identifier in a path. Undefined if it is not a five-digit number. */
export function vmIdOf(text: string): number | undefined {
  return /^\d{5}$/.test(text) ? Number(text) : undefined;
}

/**
 * Finds a VM of an account. A VM that is still being created or was removed counts as missing.
 *
 * @param vmid The identifier as the path has it.
 * @throws Refusal 404 if the account has no such VM.
 */
export async function findOwnVm(db: Db, accountId: string, vmid: string): Promise<Selectable<VmsTable>> {
  const id = vmIdOf(vmid);
  if (id === undefined) throw notFound('VM');
  const vm = await ownVms(db, accountId).where('id', '=', id).executeTakeFirst();
  if (!vm) throw notFound('VM');
  return vm;
}

/** Selects the VMs of an account. */
export function ownVms(db: Db, accountId: string) {
  return db.selectFrom('vms').selectAll().where('account_id', '=', accountId).where('state', 'in', ['running', 'stopped']);
}
