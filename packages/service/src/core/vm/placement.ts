import { sql } from 'kysely';

import { Refusal } from '../../rules/refusal.ts';
import { prepared, preparedWrite } from '../../store/prepared.ts';
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
 * Takes room on a node of a host system. A conditional update ensures that no two purchases take the same room.
 *
 * @returns The name of the node.
 * @throws Refusal 409 if no node has enough room.
 */
export async function placeOnNode(db: Db, hostsystem: string, vm: Footprint): Promise<string> {
  const wanted = { hostsystem, ...roomOf(vm) };
  // On PostgreSQL, another transaction may have taken the room of the chosen node. Then the next node is tried.
  do {
    const [node] = await takeOnSomeNode(db, wanted);
    if (node) return node.name;
  } while ((await nodesWithRoom(db, wanted)).length > 0);
  throw new Refusal(
    409,
    'out_of_capacity',
    `The host system ${hostsystem} has no room for this VM at the moment. Choose another host system, or fewer resources.`,
  );
}

/**
 * Changes the room that a VM takes on its node, by a conditional update.
 *
 * @throws Refusal 409 if the node has not enough room.
 */
export async function resizeOnNode(db: Db, node: string, from: Footprint, to: Footprint): Promise<void> {
  const [before, after] = [roomOf(from), roomOf(to)];
  const more = {
    cores: after.cores - before.cores,
    mem: after.mem - before.mem,
    disk: after.disk - before.disk,
    storage: after.storage - before.storage,
  };
  if ((await takeOnNode(db, { node, ...more })) > 0) return;
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

type OnSomeNode = Room<number> & { readonly hostsystem: string };

const takeOnSomeNode = prepared<OnSomeNode, { name: string }>((db, parameter) => {
  const room = wantedRoom(parameter);
  return db
    .updateTable('host_nodes')
    .set(take(room))
    .where('name', '=', ({ selectFrom }) =>
      selectFrom('host_nodes as candidate')
        .select('candidate.name')
        .where('candidate.hostsystem', '=', parameter('hostsystem'))
        .where(fits(room))
        .orderBy('candidate.name')
        .limit(1),
    )
    .where(fits(room))
    .returning('name');
});

const nodesWithRoom = prepared<OnSomeNode, { name: string }>((db, parameter) =>
  db
    .selectFrom('host_nodes')
    .select('name')
    .where('hostsystem', '=', parameter('hostsystem'))
    .where(fits(wantedRoom(parameter)))
    .limit(1),
);

const takeOnNode = preparedWrite<Room<number> & { readonly node: string }>((db, parameter) => {
  const room = wantedRoom(parameter);
  return db.updateTable('host_nodes').set(take(room)).where('name', '=', parameter('node')).where(fits(room));
});

function wantedRoom<T>(parameter: (name: keyof Room<unknown>) => T): Room<T> {
  return { cores: parameter('cores'), mem: parameter('mem'), disk: parameter('disk'), storage: parameter('storage') };
}

/** Columns have no table name, because `takeOnSomeNode` uses this condition for two tables. */
function fits({ cores, mem, disk, storage }: Room<unknown>) {
  return sql<boolean>`used_cores + ${cores} <= cores and used_mem + ${mem} <= mem and used_disk + ${disk} <= disk and used_storage + ${storage} <= storage`;
}

function take({ cores, mem, disk, storage }: Room<unknown>) {
  return {
    used_cores: sql<number>`used_cores + ${cores}`,
    used_mem: sql<number>`used_mem + ${mem}`,
    used_disk: sql<number>`used_disk + ${disk}`,
    used_storage: sql<number>`used_storage + ${storage}`,
  };
}
