import * as v from 'valibot';

import { catalogueOf, findOsImage } from '../../core/catalogue/catalogue.ts';
import { vmSubject } from '../../core/vm/identifier.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import { deliveredCall } from '../operation.ts';
import type { Call, Success } from '../operation.ts';

const details = v.object({ vmId: v.number() });
type Details = v.InferOutput<typeof details>;

interface Plan {
  readonly runtime: Runtime;
  readonly vmId: number;
  readonly os: string;
}

export const reinstall: UndoableDelivery<Call<'reinstallVm'>, Details, Plan, Success<'reinstallVm'>> = {
  name: 'reinstallVm',
  recovery: 'undo',
  details,
  subject: vmSubject,

  async reserve({ db }, { runtime, accountId, form, path }) {
    const vm = await findOwnVm(db, accountId, path.vmid);
    const vmId = vm.id;
    // A reinstallation boots the VM, which would then run without being billed.
    if (vm.state === 'stopped')
      throw new Refusal(409, 'wrong_state', 'This VM is stopped. Ask the provider to start it, then reinstall it.');
    const os = form.os ?? vm.os;
    const image = findOsImage((await catalogueOf(db)).images, os);
    if ('broken' in image) throw invalid([image.broken]);
    const claimed = await db
      .updateTable('vms')
      .set({ changing: 1 })
      .where('id', '=', vmId)
      .where('state', '=', 'running')
      .where('changing', '=', 0)
      .executeTakeFirst();
    if (claimed.numUpdatedRows === 0n)
      throw new Refusal(409, 'wrong_state', 'Another change of this VM is in progress. Wait until it has finished, then reinstall the VM.');
    return { accountId, details: { vmId }, plan: { runtime, vmId, os } };
  },

  call: ({ hypervisor }, { vmId, os }, token) => hypervisor.reinstall(vmId, os, token),

  async confirm({ db }, { runtime, vmId, os }) {
    await db.updateTable('vms').set({ os, changing: 0, booted: runtime.ports.clock.now() }).where('id', '=', vmId).execute();
    return { message: `The reinstallation with ${os} finished and the VM is booting.`, data: null };
  },

  // An erased disk cannot be restored. With the new token, the hypervisor rejects a late call that would still erase it.
  compensate: ({ hypervisor }, { vmId }, token) => hypervisor.start(vmId, token),
  async rollBack({ db }, { vmId }) {
    await db.updateTable('vms').set({ changing: 0 }).where('id', '=', vmId).execute();
  },
};

/** POST /vm/{vmid}/reinstall: installs the given operating system, or the current one again. */
export const reinstallVm = deliveredCall(reinstall);
