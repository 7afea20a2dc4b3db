import type { VmStatusUsage } from '@reseller/client/extension';

import type { Vm } from '../../core/vm/change.ts';
import { vmSubject } from '../../core/vm/identifier.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import { presentUsage } from '../../core/vm/usage.ts';
import type { UsageSample } from '../../core/vm/usage.ts';
import type { Db } from '../../store/store.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /vm/{vmid}/status: the state of a VM, its uptime, its task and its present use. */
export const getVmStatus: ReadOperation<'getVmStatus'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, path, now }) {
    const vm = await findOwnVm(db, accountId, path.vmid);
    const runs = vm.state === 'running' && vm.machine_ended === null;
    const uptime = vm.booted === null ? 0 : Math.max(0, Math.floor((now - vm.booted) / 1000));
    return {
      message: statusMessage(vm),
      data: {
        // A VM that is being installed does not run yet.
        status: runs ? 'running' : 'stopped',
        uptime: runs ? uptime : 0,
        task: vm.changing === 0 ? null : await taskOf(db, vm.id),
        usage: runs ? toUsage(await presentUsage(db, vm.id, now)) : null,
      },
    };
  },
};

function statusMessage({ state, machine_ended: ended }: Pick<Vm, 'state' | 'machine_ended'>): string {
  if (state === 'installing') return 'The VM is being installed.';
  return state === 'running' && ended !== null
    ? 'The machine of the VM ended by itself. The service starts it again.'
    : `The VM is ${state}.`;
}

/** MB and GB as the memory and the disk of a VM have them, which are powers of two. */
function toUsage(sample: UsageSample | undefined): VmStatusUsage | null {
  if (!sample) return null;
  function rounded(bytes: number | null, unit: number): number | null {
    return bytes === null ? null : Math.round((bytes / unit) * 100) / 100;
  }
  return {
    cpu: { data: sample.cpu, unit: '%' },
    mem: { data: rounded(sample.mem, 1024 ** 2), unit: 'MB' },
    nvme_storage: { data: rounded(sample.disk, 1024 ** 3), unit: 'GB' },
  };
}

/** The tasks of deliveries, by the name of the delivery. Public clients have no name for other tasks. */
const TASKS: Readonly<Record<string, string>> = {
  createVm: 'BOOTING',
  reinstallVm: 'REINSTALL',
  startVm: 'BOOTING',
  restartVm: 'BOOTING',
  startMachine: 'BOOTING',
  bootFromIso: 'BOOTING',
  createBackup: 'BACKUP_CREATE',
  restoreBackup: 'BACKUP_RESTORE',
};

async function taskOf(db: Db, vmId: number): Promise<string | null> {
  const reservation = await db.selectFrom('reservations').select('delivery').where('subject', '=', vmSubject({ vmId })).executeTakeFirst();
  return (reservation && TASKS[reservation.delivery]) ?? null;
}
