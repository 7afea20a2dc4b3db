import { vmSubject } from '../../core/vm/identifier.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import type { ReadOperation } from '../operation.ts';

/** The deliveries that install an operating system. */
const INSTALLATIONS = ['createVm', 'reinstallVm'];

/** GET /vm/{vmid}/status/installation: how far the installation of a VM is. */
export const getVmInstallation: ReadOperation<'getVmInstallation'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, path }) {
    const vm = await findOwnVm(db, accountId, path.vmid);
    const installation = await db
      .selectFrom('reservations')
      .select('task_percentage')
      .where('subject', '=', vmSubject({ vmId: vm.id }))
      .where('delivery', 'in', INSTALLATIONS)
      .executeTakeFirst();
    if (!installation) return { message: 'The VM is installed.', data: { status: 'finished', progress: null } };
    return {
      message: 'The VM is being installed.',
      data: { status: 'pending', progress: { percentage: installation.task_percentage ?? 0 } },
    };
  },
};
