import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

import { Refusal } from '../../rules/refusal.ts';
import { prepared } from '../../store/prepared.ts';
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
  const [taken] = await takeOnNode(db, { node, ...more });
  if (taken) return;
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
interface Room<T> {
  readonly cores: T;
  readonly mem: T;
  readonly disk: T;
  readonly storage: T;
}

function roomOf({ cores, mem, disk, storage }: Footprint): Room<number> {
  return { cores, mem, disk, storage: storage ?? 0 };
}

const CHOOSE_ANOTHER = 'Choose another host system, or fewer resources.';

/**
 * Takes room on the first node of a host system that has enough, by a conditional update.
 *
 * @param remedy What the caller can do if no node has enough room, for the message.
 * @returns The name of the node.
 * @throws Refusal 409 if no node has enough room.
 */
export async function takeRoom(db: Db, hostsystem: string, vm: Footprint, remedy = CHOOSE_ANOTHER): Promise<string> {
  const wanted = { hostsystem, ...roomOf(vm) };
  for (;;) {
    const [taken] = await takeOnFirstNode(db, wanted);
    if (taken) return taken.name;
    const [candidate] = await nodesWithRoom(db, wanted);
    if (!candidate)
      throw new Refusal(409, 'out_of_capacity', `The host system ${hostsystem} has no room for this VM at the moment. ${remedy}`);
    // Another purchase has taken the room of the node that was the first one.
  }
}

type WantedRoom = Room<number> & { readonly hostsystem: string };

const nodesWithRoom = prepared<WantedRoom, { name: string }>((db, parameter) =>
  firstWithRoom(db, parameter('hostsystem'), wantedRoom(parameter)),
);

const takeOnFirstNode = prepared<WantedRoom, { name: string }>((db, parameter) => {
  const room = wantedRoom(parameter);
  return db
    .updateTable('host_nodes')
    .set(take(room))
    .where('name', '=', firstWithRoom(db, parameter('hostsystem'), room))
    .where(fits(room))
    .returning('name');
});

function firstWithRoom(db: Db, hostsystem: RawBuilder<string>, room: Room<unknown>) {
  return db
    .selectFrom('host_nodes')
    .select('name')
    .where('hostsystem', '=', hostsystem)
    .where(fits(room))
    .orderBy('name')
    .limit(sql.lit(1));
}

const takeOnNode = prepared<Room<number> & { readonly node: string }, { name: string }>((db, parameter) => {
  const room = wantedRoom(parameter);
  return db.updateTable('host_nodes').set(take(room)).where('name', '=', parameter('node')).where(fits(room)).returning('name');
});

function wantedRoom<T>(parameter: (name: keyof Room<unknown>) => T): Room<T> {
  return { cores: parameter('cores'), mem: parameter('mem'), disk: parameter('disk'), storage: parameter('storage') };
}

function fits({ cores, mem, disk, storage }: Room<unknown>) {
  return sql<boolean>`host_nodes.used_cores + ${cores} <= host_nodes.cores and host_nodes.used_mem + ${mem} <= host_nodes.mem
    and host_nodes.used_disk + ${disk} <= host_nodes.disk and host_nodes.used_storage + ${storage} <= host_nodes.storage`;
}

function take({ cores, mem, disk, storage }: Room<unknown>) {
  return {
    used_cores: sql<number>`used_cores + ${cores}`,
    used_mem: sql<number>`used_mem + ${mem}`,
    used_disk: sql<number>`used_disk + ${disk}`,
    used_storage: sql<number>`used_storage + ${storage}`,
  };
}
