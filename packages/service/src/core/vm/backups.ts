/** Backups of VMs, within the slots that are paid. One change of a VM is in progress at a time, and a backup is one. */
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import * as v from 'valibot';

import type { FinishableDelivery, UndoableDelivery } from '../../delivery/delivery.ts';
import { enqueue } from '../../delivery/enqueue.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { finish } from '../../delivery/steps.ts';
import type { Reserved, Steps } from '../../delivery/steps.ts';
import { notFound, Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { VmBackupsTable, VmsTable } from '../../store/tables/vms.ts';
import { beginChange, endChange } from './change.ts';
import type { VmRequest } from './change.ts';
import { vmSubject } from './identifier.ts';
import { requirePart } from './require-part.ts';

export type Backup = Selectable<VmBackupsTable>;

/** A backup to make. */
export interface BackupRequest extends VmRequest {
  readonly description: string;
  /** Whether the schedule of the VM asks for it. */
  readonly isScheduled: boolean;
}

/** A backup of a VM to restore or delete. */
export interface OneBackup extends VmRequest {
  readonly backupId: string;
}

/** All backups of a VM, the oldest first. */
export function backupsOf(db: Db, vmId: number): Promise<Backup[]> {
  return db.selectFrom('vm_backups').selectAll().where('vm_id', '=', vmId).orderBy('created').orderBy('id').execute();
}

/** Seconds between two backups of a schedule. */
export const INTERVALS: Readonly<Record<string, number>> = { daily: 86_400, weekly: 604_800 };

const createDetails = v.object({
  vmId: v.number(),
  backupId: v.string(),
  // Missing in the reservations of earlier versions.
  isScheduled: v.optional(v.boolean()),
});
type CreateDetails = v.InferOutput<typeof createDetails>;

export const backupCreation: UndoableDelivery<CreateDetails> = {
  name: 'createBackup',
  leavesNoTrace: true,
  details: createDetails,
  subject: vmSubject,
  afterTask: ({ db }, details, runtime) => finishBackup(db, runtime, details),
  undo: {
    call: ({ hypervisor }, { vmId, backupId }, token) => requirePart(hypervisor, 'backups').remove(vmId, backupId, token),
    async store({ db }, { vmId, backupId, isScheduled }) {
      await db.deleteFrom('vm_backups').where('id', '=', backupId).execute();
      await endChange(db, vmId, isScheduled === true ? { backup_failing: 1 } : {});
    },
  },
};

/** Copies the disk of a VM into a free slot. The VM goes on. */
export async function createBackup(steps: Steps<Backup>, request: BackupRequest): Promise<Backup> {
  const { runtime, vmId } = request;
  const { details, backup } = await steps.reserve(backupCreation, ({ db }) => reserveBackup(db, request));
  const task = await steps.call(({ hypervisor }, token) => requirePart(hypervisor, 'backups').create(vmId, backup.id, token));
  if (task) return steps.wait(async () => backup);
  return steps.confirm(async ({ db }) => {
    await finishBackup(db, runtime, details);
    return { ...backup, state: 'available' };
  });
}

async function reserveBackup(db: Db, request: BackupRequest): Promise<Reserved<CreateDetails> & { readonly backup: Backup }> {
  const { runtime, vmId, description, isScheduled } = request;
  const { vm } = await beginChange(db, request, 'backup');
  requirePart(runtime.ports.hypervisor, 'backups');
  await assertFreeSlot(db, vm, isScheduled);
  const { clock, random } = runtime.ports;
  const created = clock.now();
  const { disk, os, hostname, ssh_key, ssh_key_displayname, password_enabled } = vm;
  const backup: Backup = {
    id: uuidv7({ msecs: created, random: random.bytes(16) }),
    vm_id: vmId,
    description,
    state: 'creating',
    is_scheduled: isScheduled ? 1 : 0,
    repeats_failure: isScheduled ? vm.backup_failing : 0,
    created,
    disk,
    os,
    hostname,
    ssh_key,
    ssh_key_displayname,
    password_enabled,
  };
  await db.insertInto('vm_backups').values(backup).execute();
  return { accountId: vm.account_id, details: { vmId, backupId: backup.id, isScheduled }, backup };
}

async function finishBackup(db: Db, { ports }: Runtime, { vmId, backupId, isScheduled }: CreateDetails): Promise<void> {
  await db.updateTable('vm_backups').set({ state: 'available' }).where('id', '=', backupId).execute();
  const vm = await endChange(db, vmId);
  if (isScheduled !== true) return;
  const next = nextRegular(vm, Math.floor(ports.clock.now() / 1000));
  await db
    .updateTable('vms')
    .set({ backup_failing: 0, ...(next !== undefined && { backup_due: next }) })
    .where('id', '=', vmId)
    .execute();
  const backups = await backupsOf(db, vmId);
  const oldest = backups.find(({ id, is_scheduled }) => is_scheduled === 1 && id !== backupId);
  if (backups.length <= vm.backup_slots || oldest === undefined) return;
  await db.updateTable('vms').set({ changing: 1 }).where('id', '=', vmId).execute();
  await enqueue(db, ports, backupDeletion, { accountId: vm.account_id, details: { vmId, backupId: oldest.id } });
}

/** Whole intervals after the anchor, so that the hour does not drift after failures. Undefined if the schedule has ended. */
function nextRegular({ backup_schedule, backup_anchor }: Selectable<VmsTable>, instant: number): number | undefined {
  const interval = INTERVALS[backup_schedule ?? ''];
  if (interval === undefined || backup_anchor === null) return undefined;
  return backup_anchor + Math.ceil((instant - backup_anchor + 1) / interval) * interval;
}

const restoreDetails = v.object({
  vmId: v.number(),
  isRunning: v.boolean(),
  os: v.string(),
  hostname: v.string(),
  ssh_key: v.nullable(v.string()),
  ssh_key_displayname: v.nullable(v.string()),
  // Missing in the reservations of earlier versions.
  password_enabled: v.optional(v.nullable(v.number())),
});
type RestoreDetails = v.InferOutput<typeof restoreDetails>;

export const backupRestoration: UndoableDelivery<RestoreDetails> = {
  name: 'restoreBackup',
  details: restoreDetails,
  subject: vmSubject,
  afterTask: ({ db }, details, runtime) => finishRestoration(db, runtime, details),
  undo: {
    // A replaced disk does not come back. With the new token, the hypervisor rejects a late call that would still replace it.
    call: ({ hypervisor }, { vmId, isRunning }, token) => (isRunning ? hypervisor.start(vmId, token) : hypervisor.stop(vmId, token)),
    async store({ db }, { vmId }) {
      await endChange(db, vmId);
    },
  },
};

/**
 * Replaces the disk of a VM by that of a backup. The VM then has the operating system, hostname and SSH key of the backup. It keeps its
 * resources, which are billed as before. A VM that runs boots, and one that is stopped stays so.
 */
export async function restoreBackup(steps: Steps<'restored' | 'started'>, request: OneBackup): Promise<'restored' | 'started'> {
  const { runtime, vmId, backupId } = request;
  const { details } = await steps.reserve(backupRestoration, async ({ db }) => {
    const { vm } = await beginChange(db, request, 'restore');
    requirePart(runtime.ports.hypervisor, 'backups');
    const backup = await findBackup(db, vmId, backupId);
    assertFits(vm, backup);
    const { os, hostname, ssh_key, ssh_key_displayname, password_enabled } = backup;
    const contents = { os, hostname, ssh_key, ssh_key_displayname, password_enabled };
    return { accountId: vm.account_id, details: { vmId, isRunning: vm.state === 'running', ...contents } };
  });
  const task = await steps.call(({ hypervisor }, token) => requirePart(hypervisor, 'backups').restore(vmId, backupId, token));
  if (task) return steps.wait(async () => 'started');
  return steps.confirm(async ({ db }) => {
    await finishRestoration(db, runtime, details);
    return 'restored';
  });
}

async function finishRestoration(db: Db, { ports }: Runtime, { vmId, isRunning, ...contents }: RestoreDetails): Promise<void> {
  await endChange(db, vmId, { ...contents, iso: null, ...(isRunning && { booted: ports.clock.now() }) });
}

const deleteDetails = v.object({ vmId: v.number(), backupId: v.string() });

export const backupDeletion: FinishableDelivery<v.InferOutput<typeof deleteDetails>> = {
  name: 'deleteBackup',
  details: deleteDetails,
  subject: vmSubject,
  finish: {
    call: ({ hypervisor }, { vmId, backupId }, token) => requirePart(hypervisor, 'backups').remove(vmId, backupId, token),
    async store({ db }, { vmId, backupId }) {
      await db.deleteFrom('vm_backups').where('id', '=', backupId).execute();
      await endChange(db, vmId);
    },
  },
  describeFailure: () =>
    'The hypervisor has not confirmed the deletion of the backup. The service retries until it does. Until then, the backup uses its slot.',
};

/** Deletes a backup. Its slot is free when the hypervisor has removed it. */
export function deleteBackup(steps: Steps<void>, request: OneBackup): Promise<void> {
  return finish(steps, backupDeletion, async ({ db }) => {
    const { vm } = await beginChange(db, request, 'backup');
    requirePart(request.runtime.ports.hypervisor, 'backups');
    const { id: backupId } = await findBackup(db, vm.id, request.backupId);
    await db.updateTable('vm_backups').set({ state: 'deleting' }).where('id', '=', backupId).execute();
    return { accountId: vm.account_id, details: { vmId: vm.id, backupId } };
  });
}

/** Forgets the backups of a VM, which the hypervisor removes with it. */
export async function forgetBackups(db: Db, vmId: number): Promise<void> {
  await db.deleteFrom('vm_backups').where('vm_id', '=', vmId).execute();
}

/** How many slots of a VM are used. */
export async function usedSlots(db: Db, vmId: number): Promise<number> {
  const { count } = await db
    .selectFrom('vm_backups')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('vm_id', '=', vmId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function findBackup(db: Db, vmId: number, id: string): Promise<Backup> {
  const backup = await db
    .selectFrom('vm_backups')
    .selectAll()
    .where('id', '=', id)
    .where('vm_id', '=', vmId)
    .where('state', '=', 'available')
    .executeTakeFirst();
  if (!backup) throw notFound('backup');
  return backup;
}

/** A scheduled backup takes the place of an earlier one, which is deleted once the new one exists. */
async function assertFreeSlot(db: Db, { id, backup_slots: slots }: Selectable<VmsTable>, isScheduled: boolean): Promise<void> {
  const backups = await backupsOf(db, id);
  const replaced = isScheduled && backups.some(({ is_scheduled, state }) => is_scheduled === 1 && state === 'available') ? 1 : 0;
  if (slots > 0 && backups.length - replaced < slots) return;
  throw noFreeSlot(id, slots);
}

/** @throws Refusal 409 if all slots of a VM are used by backups that no schedule replaces. */
export async function assertSlotForSchedule(db: Db, vmId: number): Promise<void> {
  const { backup_slots: slots } = await db.selectFrom('vms').select('backup_slots').where('id', '=', vmId).executeTakeFirstOrThrow();
  const kept = (await backupsOf(db, vmId)).filter(({ is_scheduled }) => is_scheduled === 0);
  if (kept.length >= slots) throw noFreeSlot(vmId, slots);
}

function noFreeSlot(id: number, slots: number): Refusal {
  return new Refusal(
    409,
    'quota_exceeded',
    slots === 0
      ? `The VM ${id} has no backup slot. Buy one with POST /vm/{vmid}/change.`
      : `All backup slots of the VM ${id} are used: ${slots} of ${slots}. Delete a backup, or buy more slots with POST /vm/{vmid}/change.`,
  );
}

/** Disks only grow, so a backup is never larger than the disk of its VM, unless a resize was undone after the backup. */
function assertFits({ id, disk }: Selectable<VmsTable>, backup: Backup): void {
  if (backup.disk <= disk) return;
  throw new Refusal(
    409,
    'wrong_state',
    `The backup has a disk of ${backup.disk} GB, and the VM ${id} has only ${disk} GB. Enlarge the disk with POST /vm/{vmid}/change, then restore the backup.`,
  );
}
