import type { Subject } from '@reseller/adapters';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

import { MS_PER_DAY } from '../../rules/day.ts';
import { randomInteger } from '../../rules/random.ts';
import type { Random } from '../../rules/random.ts';
import { Refusal } from '../../rules/refusal.ts';
import { prepared } from '../../store/prepared.ts';
import { readVmIdentifierQuarantine } from '../../store/settings.ts';
import type { Db } from '../../store/store.ts';

/** The range of identifiers for new VMs. */
export interface VmIdentifiers {
  readonly minimum: number;
  readonly maximum: number;
}

/** Chooses the identifier of a new VM. */
export interface IdentifierChoice {
  /** The first one to try. */
  readonly from: number;
  /** Milliseconds. */
  readonly now: number;
  readonly identifiers: VmIdentifiers;
}

/** Identifiers are random, so that they do not reveal the number of VMs. */
export function drawIdentifier(random: Random, { minimum, maximum }: VmIdentifiers): number {
  return minimum + randomInteger(random, maximum - minimum + 1);
}

/**
 * Finds the first free identifier from one on that is taken. The identifier of a removed VM is reused after its quarantine, once all its
 * positions are on closed invoices. So an invoice never has two VMs with one identifier. The removed VM is then deleted. Its positions stay.
 *
 * @throws Refusal 409 if every identifier is taken.
 */
export async function nextFreeIdentifier(db: Db, { from, now, identifiers: { minimum, maximum } }: IdentifierChoice): Promise<number> {
  for (;;) {
    const removedBefore = now - (await readVmIdentifierQuarantine(db)) * MS_PER_DAY;
    const free =
      (await firstFree(db, { from, to: maximum, removedBefore })) ?? (await firstFree(db, { from: minimum, to: from - 1, removedBefore }));
    if (!free) throw new Refusal(409, 'out_of_capacity', 'No further VM can be created at the moment. Ask the provider.');
    if (!free.isReused || (await deleteRemovedVm(db, free.id, removedBefore))) return free.id;
    // Another purchase has taken the identifier in the meantime.
  }
}

const vmsOf = prepared<{ id: number }, { id: number }>((db, parameter) =>
  db.selectFrom('vms').select('id').where('id', '=', parameter('id')),
);

async function isKnown(db: Db, id: number): Promise<boolean> {
  return (await vmsOf(db, { id })).length > 0;
}

interface IdentifierSearch {
  readonly from: number;
  readonly to: number;
  /** Milliseconds. VMs removed after this instant are in quarantine. */
  readonly removedBefore: number;
}

async function firstFree(
  db: Db,
  { from, to, removedBefore }: IdentifierSearch,
): Promise<{ readonly id: number; readonly isReused: boolean } | undefined> {
  if (from > to) return undefined;
  if (!(await isKnown(db, from))) return { id: from, isReused: false };
  const reusable = isReusable(removedBefore);
  const vm = await db
    .selectFrom('vms as vm')
    .select(['vm.id', sql<number>`case when ${reusable} then 1 else 0 end`.as('is_reusable')])
    .where('vm.id', '>=', from)
    .where('vm.id', '<=', to)
    .where(sql<boolean>`(${reusable} or (vm.id < ${to} and not exists (select 1 from vms as next where next.id = vm.id + 1)))`)
    .orderBy('vm.id')
    .limit(1)
    .executeTakeFirst();
  if (!vm) return undefined;
  return vm.is_reusable === 1 ? { id: vm.id, isReused: true } : { id: vm.id + 1, isReused: false };
}

/** A conditional delete, so that only one purchase reuses the identifier. */
async function deleteRemovedVm(db: Db, id: number, removedBefore: number): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from vms as vm where vm.id = ${id} and ${isReusable(removedBefore)}`.execute(db);
  return numAffectedRows === 1n;
}

function isReusable(removedBefore: number): RawBuilder<boolean> {
  return sql<boolean>`(vm.state = 'removed' and vm.changing = 0 and vm.removed <= ${removedBefore}
    and not exists (select 1 from positions where positions.vm_id = vm.id and positions.invoice_id is null))`;
}

/** Port calls about a VM are fenced by its identifier. */
export function vmSubject({ vmId }: { readonly vmId: number }): Subject {
  return `vm/${vmId}`;
}
