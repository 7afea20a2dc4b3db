import { sql } from 'kysely';

import { Refusal } from '../../rules/refusal.ts';
import { preparedOne } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';

/** The room that a VM takes on its node. */
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
 * Changes the room that a VM takes on its node, by a conditional update.
 *
 * @throws Refusal 409 if the node does not have enough room.
 */
export async function resizeOnNode(db: Db, node: string, from: Footprint, to: Footprint): Promise<void> {
  const [before, after] = [roomOf(from), roomOf(to)];
  const more = {
    cores: after.cores - before.cores,
    mem: after.mem - before.mem,
    disk: after.disk - before.disk,
    storage: after.storage - before.storage,
  };
  if (await takeOnNode(db, { node, ...more })) return;
  throw new Refusal(
    409,
    'out_of_capacity',
    `The node ${node} has no room for this VM with more resources at the moment. Choose fewer resources.`,
  );
}

/** Releases the room of a VM. */
export async function leaveNode(db: Db, node: string, vm: Footprint): Promise<void> {
  const { cores, mem, disk, storage } = roomOf(vm);
  await takeOnNode(db, { node, cores: -cores, mem: -mem, disk: -disk, storage: -storage });
}

/** Room on a node, in the units of a footprint. */
export interface Room<T> {
  readonly cores: T;
  readonly mem: T;
  readonly disk: T;
  readonly storage: T;
}

export function roomOf({ cores, mem, disk, storage }: Footprint): Room<number> {
  return { cores, mem, disk, storage: storage ?? 0 };
}

const takeOnNode = preparedOne<Room<number> & { readonly node: string }>(
  (db, parameter) => {
    const room = wantedRoom(parameter);
    return db.updateTable('host_nodes').set(take(room)).where('name', '=', parameter('node')).where(fits(room));
  },
  { isContended: true },
);

export function wantedRoom<T>(parameter: (name: keyof Room<unknown>) => T): Room<T> {
  return { cores: parameter('cores'), mem: parameter('mem'), disk: parameter('disk'), storage: parameter('storage') };
}

export function fits({ cores, mem, disk, storage }: Room<unknown>) {
  return sql<boolean>`host_nodes.used_cores + ${cores} <= host_nodes.cores and host_nodes.used_mem + ${mem} <= host_nodes.mem
    and host_nodes.used_disk + ${disk} <= host_nodes.disk and host_nodes.used_storage + ${storage} <= host_nodes.storage`;
}

export function take({ cores, mem, disk, storage }: Room<unknown>) {
  return {
    used_cores: sql<number>`used_cores + ${cores}`,
    used_mem: sql<number>`used_mem + ${mem}`,
    used_disk: sql<number>`used_disk + ${disk}`,
    used_storage: sql<number>`used_storage + ${storage}`,
  };
}
