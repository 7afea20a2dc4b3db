import * as v from 'valibot';

import { catalogueOf, findOsImage } from '../../core/catalogue/catalogue.ts';
import type { OsImage } from '../../core/catalogue/catalogue.ts';
import { assertNotBlocked, endChange } from '../../core/vm/change.ts';
import { vmSubject } from '../../core/vm/identifier.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import { findSshKey, UNKNOWN_SSH_KEY } from '../../core/vm/ssh-keys.ts';
import { confirmUserData, forgetPendingUserData, storeUserData, userDataOf } from '../../core/vm/user-data.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import type { Reserved } from '../../delivery/steps.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import { deliveredCall } from '../operation.ts';
import type { Call } from '../operation.ts';

/** The columns of a VM that a reinstallation changes. */
const installed = v.object({ os: v.string(), ssh_key: v.nullable(v.string()), ssh_key_displayname: v.nullable(v.string()) });

// Reservations of earlier versions lack some of the columns.
const details = v.object({ vmId: v.number(), ...v.partial(installed).entries });
type Details = v.InferOutput<typeof details>;

/** The rule that a disk (GB) breaks. */
function tooSmallFor({ min_disk }: OsImage, disk: number): BrokenField[] {
  const message = `needs a disk of at least ${min_disk} GB, and the VM has ${disk} GB. Resize the VM first`;
  return disk < min_disk ? [{ field: 'os', rule: 'minimum', message }] : [];
}

export const vmReinstallation: UndoableDelivery<Details> = {
  name: 'reinstallVm',
  details,
  subject: vmSubject,
  afterTask: ({ db }, { vmId, ...columns }, runtime) => endReinstallation(db, runtime, { vmId, columns }),
  undo: {
    // An erased disk cannot be restored. With the new token, the hypervisor rejects a late call that would still erase it.
    call: ({ hypervisor }, { vmId }, token) => hypervisor.start(vmId, token),
    async store({ db }, { vmId }) {
      await forgetPendingUserData(db, vmId);
      await endChange(db, vmId);
    },
  },
};

/** POST /vm/{vmid}/reinstall: installs the given operating system, or the current one again, with the hostname that the VM has now. */
export const reinstallVm = deliveredCall<'reinstallVm'>(async (steps, call) => {
  const { runtime } = call;
  const { vmId, columns, hostname, userData } = await steps.reserve(vmReinstallation, ({ db }) => reserveReinstallation(db, call));
  const { os, ssh_key: sshKey } = columns;
  const task = await steps.call(({ hypervisor }, token) => hypervisor.reinstall({ vmId, os, hostname, sshKey, userData }, token));
  if (task)
    return steps.wait(async () => ({
      message: `The reinstallation with ${os} has started. GET /vm/{vmid}/status/installation shows its progress.`,
      data: null,
    }));
  return steps.confirm(async ({ db }) => {
    await endReinstallation(db, runtime, { vmId, columns });
    return { message: `The reinstallation with ${os} finished and the VM is booting.`, data: null };
  });
});

interface ReservedReinstallation extends Reserved<Details> {
  readonly vmId: number;
  readonly columns: v.InferOutput<typeof installed>;
  readonly hostname: string;
  readonly userData: string | null;
}

async function reserveReinstallation(db: Db, { runtime, accountId, form, path }: Call<'reinstallVm'>): Promise<ReservedReinstallation> {
  const vm = await findOwnVm(db, accountId, path.vmid);
  const vmId = vm.id;
  assertNotBlocked(vm);
  // A reinstallation boots the VM, which would then run without being billed.
  if (vm.state === 'stopped') throw new Refusal(409, 'wrong_state', 'This VM is stopped. Ask the provider to start it, then reinstall it.');
  const os = form.os ?? vm.os;
  const image = findOsImage((await catalogueOf(db)).images, os);
  const key = form.ssh_key_id === undefined ? undefined : await findSshKey(db, accountId, form.ssh_key_id);
  const broken = [
    ...('broken' in image ? [image.broken] : tooSmallFor(image, vm.disk)),
    ...(form.ssh_key_id !== undefined && key === undefined ? [UNKNOWN_SSH_KEY] : []),
  ];
  if (broken.length > 0) throw invalid(broken);
  const claimed = await db
    .updateTable('vms')
    .set({ changing: 1 })
    .where('id', '=', vmId)
    .where('state', '=', 'running')
    .where('changing', '=', 0)
    .executeTakeFirst();
  if (claimed.numUpdatedRows === 0n)
    throw new Refusal(409, 'wrong_state', 'Another change of this VM is in progress. Wait until it has finished, then reinstall the VM.');
  const { ssh_key, ssh_key_displayname } = key ? { ssh_key: key.public_key, ssh_key_displayname: key.displayname } : vm;
  const columns = { os, ssh_key, ssh_key_displayname };
  if (form.user_data !== undefined) await storeUserData(db, runtime, { vmId, text: form.user_data, isPending: true });
  const userData = form.user_data ?? (await userDataOf(db, runtime, vmId));
  return { accountId, details: { vmId, ...columns }, vmId, columns, hostname: vm.hostname, userData };
}

async function endReinstallation(
  db: Db,
  { ports }: Runtime,
  { vmId, columns }: { readonly vmId: number; readonly columns: Omit<Details, 'vmId'> },
): Promise<void> {
  await confirmUserData(db, vmId);
  await endChange(db, vmId, { ...columns, password_enabled: 1, iso: null, booted: ports.clock.now() });
}
