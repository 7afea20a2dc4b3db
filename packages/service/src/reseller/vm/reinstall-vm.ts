import * as v from 'valibot';

import { catalogueOf, findOsImage } from '../../core/catalogue/catalogue.ts';
import { endChange } from '../../core/vm/change.ts';
import { vmSubject } from '../../core/vm/identifier.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import { deliveredCall } from '../operation.ts';
import type { Call, Success } from '../operation.ts';

// The operating system is missing in the reservations of earlier versions, which wait for no task.
const details = v.object({ vmId: v.number(), os: v.optional(v.string()) });
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
    return { accountId, details: { vmId, os }, plan: { runtime, vmId, os } };
  },

  call: ({ hypervisor }, { vmId, os }, token) => hypervisor.reinstall(vmId, os, token),

  async confirm({ db }, { runtime, vmId, os }) {
    await endChange(db, vmId, { os, booted: runtime.ports.clock.now() });
    return { message: `The reinstallation with ${os} finished and the VM is booting.`, data: null };
  },

  // An erased disk cannot be restored. With the new token, the hypervisor rejects a late call that would still erase it.
  compensate: ({ hypervisor }, { vmId }, token) => hypervisor.start(vmId, token),
  async rollBack({ db }, { vmId }) {
    await endChange(db, vmId);
  },

  asTask: {
    begin: async (_transaction, { os }) => ({
      message: `The reinstallation with ${os} has started. GET /vm/{vmid}/status/installation shows its progress.`,
      data: null,
    }),
    async finish({ db }, { vmId, os }, runtime) {
      await endChange(db, vmId, { ...(os !== undefined && { os }), booted: runtime.ports.clock.now() });
    },
  },
};

/** POST /vm/{vmid}/reinstall: installs the given operating system, or the current one again. */
export const reinstallVm = deliveredCall(reinstall);
