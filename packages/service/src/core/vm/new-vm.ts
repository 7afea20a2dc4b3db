import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import { everyNameOf } from '../../rules/every-name.ts';
import { Refusal } from '../../rules/refusal.ts';
import { rowsAfterCommit, preparedOne, prepared } from '../../store/prepared.ts';
import { CollisionError } from '../../store/store.ts';
import type { AfterCommit, Db } from '../../store/store.ts';
import type { VmsTable } from '../../store/tables/vms.ts';
import { nextFreeIdentifier } from './identifier.ts';
import type { IdentifierChoice } from './identifier.ts';
import { fits, roomOf, take, wantedRoom } from './placement.ts';
import type { Room } from './placement.ts';

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
  /** The name of its node. */
  readonly node: AfterCommit<string>;
}

/**
 * Stores a new VM on the first node of its host system that has room. A conditional update takes the room, so that two purchases never take
 * the same room.
 *
 * @throws Refusal 409 if no node has enough room, or no identifier is free.
 */
export async function insertVm(db: Db, vm: NewVm, choice: IdentifierChoice): Promise<PlacedVm> {
  const room = roomOf(vm);
  for (let id = choice.from; ; id = await nextFreeIdentifier(db, choice)) {
    const default_ptr = vm.default_ptr ?? `vm${id}.reseller-vm.invalid`;
    const inserted = await insertOnNode(db, { ...vm, ...wantedOf(room), id, default_ptr }, 1);
    if (inserted) {
      if (!(await takeRoomOf(db, { id, ...room }))) throw new CollisionError(`The room on the node of the VM ${id} was taken meanwhile.`);
      return { id, node: () => inserted()[0]?.node ?? '' };
    }
    if ((await nodesWithRoom(db, { hostsystem: vm.hostsystem, ...room })).length === 0) break;
  }
  throw new Refusal(
    409,
    'out_of_capacity',
    `The host system ${vm.hostsystem} has no room for this VM at the moment. Choose another host system, or fewer resources.`,
  );
}

/** The parameters for the room that a VM needs. The prefix keeps them apart from the columns of a VM. */
type Wanted = { readonly [Name in keyof Room<unknown> as `wanted_${Name}`]: number };

function wantedOf({ cores, mem, disk, storage }: Room<number>): Wanted {
  return { wanted_cores: cores, wanted_mem: mem, wanted_disk: disk, wanted_storage: storage };
}

const COLUMNS = everyNameOf<NewVm & { readonly id: number }>()([
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
]);

type VmRow = NewVm & Wanted & { readonly id: number; readonly default_ptr: string };

/** Inserts nothing if the identifier is taken or no node has room. */
const insertOnNode = rowsAfterCommit<VmRow, { node: string }>((db, parameter) =>
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

const takeRoomOf = preparedOne<Room<number> & { readonly id: number }>(
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
