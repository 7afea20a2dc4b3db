import { monitorOf, setMonitor } from '../../core/vm/monitoring.ts';
import { findUnblockedVm } from '../../core/vm/own-vm.ts';
import type { Db } from '../../store/store.ts';
import type { StoreOperation } from '../operation.ts';

/** POST /vm/{vmid}/monitoring: begins or ends the checks of a TCP port. */
export const setVmMonitoring: StoreOperation<'setVmMonitoring'> = {
  kind: 'store',
  async run({ db }, { accountId, path, form: { enabled, port }, runtime }) {
    const { id } = await findUnblockedVm(db, accountId, path.vmid);
    await setMonitor(db, runtime, { vmId: id, enabled, port });
    return {
      message: enabled ? `The service checks port ${port} every minute.` : 'The service checks no port.',
      data: await monitoringOf(db, id),
    };
  },
};

/** The monitoring of a VM, as its configuration has it. */
export async function monitoringOf(db: Db, vmId: number) {
  const monitor = await monitorOf(db, vmId);
  return { enabled: monitor?.enabled === 1, port: monitor?.port ?? null, status: monitor?.enabled === 1 ? monitor.status : null };
}
