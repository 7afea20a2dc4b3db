import type { VmBackups } from '@reseller/operator-client';

import { backupsOf, createBackup, deleteBackup, restoreBackup } from '../core/vm/backups.ts';
import type { CommandHooks } from '../delivery/command.ts';
import { runCommand } from '../delivery/command.ts';
import type { Runtime } from '../delivery/runtime.ts';
import { toInstant } from '../rules/instants.ts';
import type { Db } from '../store/store.ts';
import { recordingHooks } from './access/recording-hooks.ts';
import type { ReadOperation, RecordChange, ServiceOperation } from './operation.ts';
import { vmOf } from './vm.ts';

/** GET /vms/{vm_id}/backups */
export const getVmBackups: ReadOperation<'getVmBackups'> = {
  kind: 'read',
  run: (db, { path }) => describeBackups(db, path.vm_id),
};

/** POST /vms/{vm_id}/backups */
export const createVmBackup: ServiceOperation<'createVmBackup'> = {
  kind: 'service',
  run: ({ runtime, path }, record) =>
    changing(runtime, path.vm_id, record, (vmId, hooks) =>
      runCommand(runtime, createBackup, { runtime, vmId, description: '', isScheduled: false }, hooks),
    ),
};

/** POST /vms/{vm_id}/backups/{backup_id}/restore */
export const restoreVmBackup: ServiceOperation<'restoreVmBackup'> = {
  kind: 'service',
  run: ({ runtime, path }, record) =>
    changing(runtime, path.vm_id, record, (vmId, hooks) =>
      runCommand(runtime, restoreBackup, { runtime, vmId, backupId: path.backup_id }, hooks),
    ),
};

/** DELETE /vms/{vm_id}/backups/{backup_id} */
export const deleteVmBackup: ServiceOperation<'deleteVmBackup'> = {
  kind: 'service',
  run: ({ runtime, path }, record) =>
    changing(runtime, path.vm_id, record, (vmId, hooks) =>
      runCommand(runtime, deleteBackup, { runtime, vmId, backupId: path.backup_id }, hooks),
    ),
};

async function changing(
  { store }: Runtime,
  id: string,
  record: RecordChange,
  command: (vmId: number, hooks: CommandHooks) => Promise<unknown>,
): Promise<VmBackups> {
  const vm = await store.read((db) => vmOf(db, id));
  await command(
    vm.id,
    recordingHooks((db) => describeBackups(db, id), record),
  );
  return store.read((db) => describeBackups(db, id));
}

async function describeBackups(db: Db, id: string): Promise<VmBackups> {
  const { id: vmId, backup_slots: slots, backup_schedule, backup_due } = await vmOf(db, id);
  const backups = await backupsOf(db, vmId);
  return {
    slots,
    schedule: backup_schedule ?? 'off',
    next: backup_due === null ? null : toInstant(backup_due * 1000),
    backups: backups.map(({ id: backup, description, state, is_scheduled, created, disk, os }) => ({
      id: backup,
      description,
      status: state,
      scheduled: is_scheduled === 1,
      created: toInstant(created),
      disk,
      os,
    })),
  };
}
