import { invalid, notFound, Refusal } from '../../../refusal.ts';
import type { DeliveredOperation } from '../../operation.ts';
import { vmSubject } from '../../turns.ts';
import { findOsImage } from '../os-image.ts';

/** POST /vm/{vmid}/reinstall: installs the named operating system, or the current one again. */
export const reinstallVm: DeliveredOperation<'reinstallVm'> = {
  kind: 'delivered',
  begin({ accountId, form, path, ports }) {
    const vmId = Number(path.vmid);
    let os: string;
    return {
      async reserve({ db }) {
        const vm = /^\d{5}$/.test(path.vmid)
          ? await db
              .selectFrom('vms')
              .select(['os', 'state'])
              .where('id', '=', vmId)
              .where('account_id', '=', accountId)
              .where('state', 'in', ['running', 'stopped'])
              .executeTakeFirst()
          : undefined;
        if (!vm) throw notFound('VM');
        // It would boot, and run without being billed.
        if (vm.state === 'stopped')
          throw new Refusal(409, 'wrong_state', 'This VM is stopped. Ask the provider to start it, then reinstall it.');
        os = form.os ?? vm.os;
        const image = await findOsImage(db, os);
        if ('broken' in image) throw invalid([image.broken]);
        const claimed = await db
          .updateTable('vms')
          .set({ changing: 1 })
          .where('id', '=', vmId)
          .where('state', '=', 'running')
          .where('changing', '=', 0)
          .executeTakeFirst();
        if (claimed.numUpdatedRows === 0n)
          throw new Refusal(409, 'wrong_state', 'Another change of this VM is under way. Wait until it is done, then reinstall it.');
        return { vmId };
      },
      deliver: (turn) => ports.hypervisor.reinstall(vmId, os, turn),
      async confirm({ db }) {
        await db.updateTable('vms').set({ os, changing: 0 }).where('id', '=', vmId).execute();
        return { message: `The reinstallation with ${os} finished and the VM is booting.`, data: null };
      },
    };
  },
  subject: vmSubject,
  // What the hypervisor erased cannot be brought back. What it has not erased yet must not be any more: a later call has it refuse that.
  async withdraw({ hypervisor }, { vmId }, { turn, mayComeYet }) {
    if (mayComeYet) await hypervisor.start(Number(vmId), turn);
  },
  async release({ db }, { vmId }) {
    await db.updateTable('vms').set({ changing: 0 }).where('id', '=', Number(vmId)).execute();
  },
};
