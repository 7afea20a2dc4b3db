import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import { Refusal } from '../../rules/refusal.ts';
import { expectedRows, expectedWrite, prepared, preparedWrite } from '../../store/prepared.ts';
import { CollisionError } from '../../store/store.ts';
import type { Db } from '../../store/store.ts';
import type { VmsTable } from '../../store/tables/vms.ts';
import { nextFreeIdentifier } from './identifier.ts';
import type { IdentifierChoice } from './identifier.ts';

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

/** The row of a VM before it has a node. */
export type NewVm = Omit<
  Selectable<VmsTable>,
  'id' | 'default_ptr' | 'node' | 'changing' | 'removed' | 'booted' | 'stopped_by_provider'
> & {
  /** Undefined for a domain of the provider. */
  readonly default_ptr: string | undefined;
};

/** A VM that has an identifier, a node and room on it. */
export interface PlacedVm {
  readonly id: number;
  /** The name of its node. It is known after the commit. */
  node(): string;
}

/**
 * Stores a new VM on the first node of its host system that has room. A conditional update takes the room, so that two purchases never take
 * the same room.
 *
 * @throws Refusal 409 if no node has enough room, or no identifier is free.
 */
export async function placeVm(db: Db, vm: NewVm, choice: IdentifierChoice): Promise<PlacedVm> {
  const room = roomOf(vm);
  for (let id = choice.from; ; id = await nextFreeIdentifier(db, choice)) {
    const default_ptr = vm.default_ptr ?? `vm${id}.reseller-vm.invalid`;
    const inserted = await insertOnNode(db, { ...vm, ...wantedOf(room), id, default_ptr }, 1);
    if (inserted.isMet) {
      if (!(await takeRoomOf(db, { id, ...room }))) throw new CollisionError(`The room on the node of the VM ${id} was taken meanwhile.`);
      return { id, node: () => inserted.rows()[0]?.node ?? '' };
    }
    if ((await nodesWithRoom(db, { hostsystem: vm.hostsystem, ...room })).length === 0) break;
  }
  throw new Refusal(
    409,
    'out_of_capacity',
    `The host system ${vm.hostsystem} has no room for this VM at the moment. Choose another host system, or fewer resources.`,
  );
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

/** The parameters for the room that a VM needs. The prefix keeps them apart from the columns of a VM. */
type Wanted = { readonly [Name in keyof Room<unknown> as `wanted_${Name}`]: number };

function wantedOf({ cores, mem, disk, storage }: Room<number>): Wanted {
  return { wanted_cores: cores, wanted_mem: mem, wanted_disk: disk, wanted_storage: storage };
}

const COLUMNS = [
  'id',
  'account_id',
  'state',
  'hostsystem',
  'cores',
  'mem',
  'disk',
  'os',
  'ips',
  'backup_slots',
  'network_speed',
  'hostname',
  'storage',
  'ssh_key',
  'ssh_key_displayname',
  'default_ptr',
  'monthly_price',
  'prices_from',
  'sale_id',
  'price_basis',
  'created',
] as const satisfies readonly (keyof VmsTable)[];

type VmRow = NewVm & Wanted & { readonly id: number; readonly default_ptr: string };

/** Inserts nothing if the identifier is taken or no node has room. */
const insertOnNode = expectedRows<VmRow, { node: string }>((db, parameter) =>
  db
    .insertInto('vms')
    .columns(['node', ...COLUMNS])
    .expression(
      db
        .selectFrom('host_nodes')
        .select('host_nodes.name')
        .select(COLUMNS.map((column) => parameter(column).as(`new_${column}`)))
        .where('host_nodes.hostsystem', '=', parameter('hostsystem'))
        .where(
          fits({
            cores: parameter('wanted_cores'),
            mem: parameter('wanted_mem'),
            disk: parameter('wanted_disk'),
            storage: parameter('wanted_storage'),
          }),
        )
        .where(({ not, exists, selectFrom }) => not(exists(selectFrom('vms').select('vms.id').where('vms.id', '=', parameter('id')))))
        .orderBy('host_nodes.name')
        .limit(sql.lit(1)),
    )
    .returning('node'),
);

const takeRoomOf = expectedWrite<Room<number> & { readonly id: number }>(
  (db, parameter) => {
    const room = wantedRoom(parameter);
    return db
      .updateTable('host_nodes')
      .set(take(room))
      .where('name', '=', ({ selectFrom }) => selectFrom('vms').select('node').where('vms.id', '=', parameter('id')))
      .where(fits(room));
  },
  { isContended: true },
);

const nodesWithRoom = prepared<Room<number> & { readonly hostsystem: string }, { name: string }>((db, parameter) =>
  db
    .selectFrom('host_nodes')
    .select('name')
    .where('hostsystem', '=', parameter('hostsystem'))
    .where(fits(wantedRoom(parameter)))
    .limit(sql.lit(1)),
);

const takeOnNode = preparedWrite<Room<number> & { readonly node: string }>((db, parameter) => {
  const room = wantedRoom(parameter);
  return db.updateTable('host_nodes').set(take(room)).where('name', '=', parameter('node')).where(fits(room));
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
