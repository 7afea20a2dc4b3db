import { vmSubject } from '../../core/vm/identifier.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import type { Db } from '../../store/store.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /vm/{vmid}/status: whether a VM runs, for how long, and the task that is in progress. */
export const getVmStatus: ReadOperation<'getVmStatus'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, path, now }) {
    const vm = await findOwnVm(db, accountId, path.vmid);
    const uptime = vm.booted === null ? 0 : Math.max(0, Math.floor((now - vm.booted) / 1000));
    return {
      message: vm.state === 'installing' ? 'The VM is being installed.' : `The VM is ${vm.state}.`,
      data: {
        // A VM that is being installed does not run yet.
        status: vm.state === 'running' ? 'running' : 'stopped',
        uptime: vm.state === 'running' ? uptime : 0,
        task: vm.changing === 0 ? null : await taskOf(db, vm.id),
      },
    };
  },
};

/** The tasks of deliveries, by the name of the delivery. Public clients have no name for other tasks. */
const TASKS: Readonly<Record<string, string>> = {
  createVm: 'BOOTING',
  reinstallVm: 'REINSTALL',
  startVm: 'BOOTING',
  restartVm: 'BOOTING',
  createBackup: 'BACKUP_CREATE',
  restoreBackup: 'BACKUP_RESTORE',
};

async function taskOf(db: Db, vmId: number): Promise<string | null> {
  const reservation = await db.selectFrom('reservations').select('delivery').where('subject', '=', vmSubject({ vmId })).executeTakeFirst();
  return (reservation && TASKS[reservation.delivery]) ?? null;
}
