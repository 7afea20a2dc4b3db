import { sql } from 'kysely';

import { Refusal } from '../../refusal.ts';
import type { Db } from '../../store/store.ts';

/** What a VM takes of its node. */
export interface Footprint {
  readonly cores: number;
  /** MB. */
  readonly mem: number;
  /** GB. */
  readonly disk: number;
  /** GB of HDD. */
  readonly storage: number | null;
}

/**
 * Takes room on a node of a host system: one conditional update for each candidate, so two
 * purchases never take the same room.
 *
 * @returns The node's name.
 * @throws Refusal 409 when no node has the room.
 */
export async function placeOnNode(db: Db, hostsystem: string, vm: Footprint): Promise<string> {
  const fits = fitsOn(vm);
  const candidates = await db
    .selectFrom('host_nodes')
    .select('name')
    .where('hostsystem', '=', hostsystem)
    .where(fits)
    .orderBy('name')
    .execute();
  for (const { name } of candidates) {
    const taken = await db.updateTable('host_nodes').set(use(vm, 1)).where('name', '=', name).where(fits).executeTakeFirst();
    if (taken.numUpdatedRows > 0n) return name;
  }
  throw new Refusal(
    409,
    'out_of_capacity',
    `The host system ${hostsystem} has no room for this VM at the moment. Choose another host system, or fewer resources.`,
  );
}

/**
 * Has a VM take other room on its node, in one conditional update.
 *
 * @throws Refusal 409 when the node has no room for what it takes more.
 */
export async function resizeOnNode(db: Db, node: string, from: Footprint, to: Footprint): Promise<void> {
  const more: Footprint = {
    cores: to.cores - from.cores,
    mem: to.mem - from.mem,
    disk: to.disk - from.disk,
    storage: (to.storage ?? 0) - (from.storage ?? 0),
  };
  const taken = await db.updateTable('host_nodes').set(use(more, 1)).where('name', '=', node).where(fitsOn(more)).executeTakeFirst();
  if (taken.numUpdatedRows > 0n) return;
  throw new Refusal(
    409,
    'out_of_capacity',
    `The node ${node} has no room for this VM with more resources at the moment. Choose fewer resources.`,
  );
}

/** Gives the room of a VM back. */
export async function leaveNode(db: Db, node: string, vm: Footprint): Promise<void> {
  await db.updateTable('host_nodes').set(use(vm, -1)).where('name', '=', node).execute();
}

function fitsOn(vm: Footprint) {
  return sql<boolean>`used_cores + ${vm.cores} <= cores and used_mem + ${vm.mem} <= mem and used_disk + ${vm.disk} <= disk and used_storage + ${vm.storage ?? 0} <= storage`;
}

function use(vm: Footprint, sign: 1 | -1) {
  return {
    used_cores: sql<number>`used_cores + ${sign * vm.cores}`,
    used_mem: sql<number>`used_mem + ${sign * vm.mem}`,
    used_disk: sql<number>`used_disk + ${sign * vm.disk}`,
    used_storage: sql<number>`used_storage + ${sign * (vm.storage ?? 0)}`,
  };
}
