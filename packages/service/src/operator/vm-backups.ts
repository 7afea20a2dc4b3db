import type { VmBackups } from '@reseller/operator-client';

import { backupsOf, createBackup, deleteBackup, restoreBackup } from '../core/vm/backups.ts';
import type { Backup } from '../core/vm/backups.ts';
import type { VmRequest } from '../core/vm/change.ts';
import { runCommand } from '../delivery/command.ts';
import type { Runtime } from '../delivery/runtime.ts';
import type { Steps } from '../delivery/steps.ts';
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
    changing(runtime, path.vm_id, record, (steps: Steps<Backup>, request) =>
      createBackup(steps, { ...request, description: '', isScheduled: false }),
    ),
};

/** POST /vms/{vm_id}/backups/{backup_id}/restore */
export const restoreVmBackup: ServiceOperation<'restoreVmBackup'> = {
  kind: 'service',
  run: ({ runtime, path }, record) =>
    changing(runtime, path.vm_id, record, (steps: Steps<'restored' | 'started'>, request) =>
      restoreBackup(steps, { ...request, backupId: path.backup_id }),
    ),
};

/** DELETE /vms/{vm_id}/backups/{backup_id} */
export const deleteVmBackup: ServiceOperation<'deleteVmBackup'> = {
  kind: 'service',
  run: ({ runtime, path }, record) =>
    changing(runtime, path.vm_id, record, (steps: Steps<void>, request) => deleteBackup(steps, { ...request, backupId: path.backup_id })),
};

async function changing<Result>(
  runtime: Runtime,
  id: string,
  record: RecordChange,
  change: (steps: Steps<Result>, request: VmRequest) => Promise<Result>,
): Promise<VmBackups> {
  const { store } = runtime;
  const { id: vmId } = await store.read((db) => vmOf(db, id));
  const hooks = recordingHooks((db) => describeBackups(db, id), record);
  await runCommand<Result>(runtime, (steps) => change(steps, { runtime, vmId }), hooks);
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
