import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import { everyNameOf } from '../../rules/every-name.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import type { VmsTable } from '../../store/tables/vms.ts';
import { nextFreeIdentifier } from './identifier.ts';
import type { IdentifierChoice } from './identifier.ts';

/** The row of a VM before it has a node. */
export type NewVm = Omit<
  Selectable<VmsTable>,
  | 'id'
  | 'default_ptr'
  | 'node'
  | 'changing'
  | 'removed'
  | 'booted'
  | 'machine_ended'
  | 'next_start'
  | 'start_attempts'
  | 'stopped_by_provider'
  | 'is_sample'
  | 'backup_schedule'
  | 'backup_due'
  | 'backup_anchor'
  | 'backup_failing'
  | 'iso'
  | 'abuse_status'
  | 'abuse_reason'
  | 'abuse_statement'
> & {
  /** Undefined for a domain of the provider. */
  readonly default_ptr: string | undefined;
};

/** A VM that has an identifier, a node and room on it. */
export interface PlacedVm {
  readonly id: number;
  /** The name of its node. */
  readonly node: string;
}

/**
 * Stores a new VM that has room on its node.
 *
 * @returns Its identifier.
 * @throws Refusal 409 if no identifier is free.
 */
export async function insertVm(db: Db, vm: Omit<NewVm & PlacedVm, 'id'>, choice: IdentifierChoice): Promise<number> {
  for (let id = choice.from; ; id = await nextFreeIdentifier(db, choice)) {
    if (await insertPlacedVm(db, { ...vm, id })) return id;
  }
}

/** Like `insertVm`, under a given identifier. @returns False if its identifier is taken. */
export async function insertPlacedVm(db: Db, vm: NewVm & PlacedVm): Promise<boolean> {
  const default_ptr = vm.default_ptr ?? `vm${vm.id}.reseller-vm.invalid`;
  const [inserted] = await insertUnlessTaken(db, { ...vm, default_ptr });
  return inserted !== undefined;
}

const COLUMNS = everyNameOf<VmRow>()([
  'id',
  'node',
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
  'name',
  'labels',
  'storage',
  'ssh_key',
  'ssh_key_displayname',
  'password_enabled',
  'default_ptr',
  'monthly_price',
  'prices_from',
  'sale_id',
  'price_basis',
  'created',
]);

type VmRow = NewVm & PlacedVm & { readonly default_ptr: string };

// SQLite needs the WHERE to tell the ON CONFLICT from the ON of a join.
const insertUnlessTaken = prepared<VmRow, { id: number }>((db, parameter) =>
  db
    .insertInto('vms')
    .columns(COLUMNS)
    .expression(db.selectNoFrom(COLUMNS.map((column) => parameter(column).as(column))).where(sql<boolean>`true`))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id'),
);
