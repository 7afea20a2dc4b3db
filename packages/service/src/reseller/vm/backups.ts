import type { VmBackup } from '@reseller/client/extension';

import { setSchedule } from '../../core/vm/backup-schedule.ts';
import { backupsOf, createBackup, deleteBackup, restoreBackup } from '../../core/vm/backups.ts';
import type { Backup } from '../../core/vm/backups.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import { counted } from '../../rules/counted.ts';
import { secondsToInstant, toInstant } from '../../rules/instants.ts';
import { invalid } from '../../rules/refusal.ts';
import type { DeliveredOperation, ReadOperation, StoreOperation } from '../operation.ts';
import { requestOf } from './vm-request.ts';

/** GET /vm/{vmid}/backup/list */
export const listVmBackups: ReadOperation<'listVmBackups'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, path }) {
    const { id, backup_slots, backup_schedule, backup_due } = await findOwnVm(db, accountId, path.vmid);
    const backups = await backupsOf(db, id);
    return {
      message: `${counted(backups.length, 'backup')} in ${counted(backup_slots, 'slot')}.`,
      data: {
        slots: backup_slots,
        schedule: backup_schedule ?? 'off',
        next: backup_due === null ? null : secondsToInstant(backup_due),
        list: backups.map(toBackup),
      },
    };
  },
};

/** POST /vm/{vmid}/backup/create */
export const createVmBackup: DeliveredOperation<'createVmBackup', Backup> = {
  kind: 'delivered',
  deliver: (steps, call) => createBackup(steps, { ...requestOf(call), description: call.form.description ?? '', isScheduled: false }),
  success: async (backup) => ({
    message:
      backup.state === 'available'
        ? 'The backup was made.'
        : 'The backup is being made. GET /vm/{vmid}/backup/list shows when it is available.',
    data: toBackup(backup),
  }),
};

/** POST /vm/{vmid}/backup/restore */
export const restoreVmBackup: DeliveredOperation<'restoreVmBackup', 'restored' | 'started'> = {
  kind: 'delivered',
  deliver: (steps, call) => restoreBackup(steps, { ...requestOf(call), backupId: call.form.backup_id }),
  success: async (end) => ({
    message: end === 'restored' ? 'The backup was restored.' : 'The backup is being restored. GET /vm/{vmid}/status shows the task.',
    data: null,
  }),
};

/** DELETE /vm/{vmid}/backup/{backup_id}/delete */
export const deleteVmBackup: DeliveredOperation<'deleteVmBackup', void> = {
  kind: 'delivered',
  deliver: (steps, call) => deleteBackup(steps, { ...requestOf(call), backupId: call.path.backup_id }),
  success: async () => ({ message: 'The backup was deleted.', data: null }),
};

/** POST /vm/{vmid}/backup/schedule */
export const setVmBackupSchedule: StoreOperation<'setVmBackupSchedule'> = {
  kind: 'store',
  async run({ db }, { accountId, path, form: { interval }, runtime: { ports } }) {
    const { id } = await findOwnVm(db, accountId, path.vmid);
    if (!['off', 'daily', 'weekly'].includes(interval))
      throw invalid([{ field: 'interval', rule: 'exists', message: 'must be off, daily or weekly' }]);
    await setSchedule(db, id, interval === 'off' ? null : interval, ports.clock.now());
    const { backup_due } = await findOwnVm(db, accountId, path.vmid);
    const next = backup_due === null ? null : secondsToInstant(backup_due);
    return {
      message: next === null ? 'The service makes no backups of this VM by itself.' : `The next backup is due at ${next}.`,
      data: { schedule: interval, next },
    };
  },
};

function toBackup({ id, description, state, is_scheduled, created, disk, os }: Backup): VmBackup {
  return {
    backup_id: id,
    description,
    status: state,
    scheduled: is_scheduled === 1,
    created: toInstant(created),
    disk,
    os,
  };
}
