/** Changes inside a running VM that need the hypervisor and do not affect its billing. */
import { isGuestError } from '@reseller/adapters';
import type { Selectable } from 'kysely';
import * as v from 'valibot';

import type { UndoableDelivery } from '../../delivery/delivery.ts';
import { newPassword } from '../../rules/credentials.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { SshKeysTable } from '../../store/tables/vms.ts';
import { beginChange, endChange } from './change.ts';
import type { VmRequest } from './change.ts';
import { vmSubject } from './identifier.ts';
import { findSshKey, UNKNOWN_SSH_KEY } from './ssh-keys.ts';

const details = v.object({ vmId: v.number() });
type Details = v.InferOutput<typeof details>;

interface RestartPlan {
  readonly request: VmRequest;
}

/** Restarts a running VM. It stays billed. */
export const restartVm: UndoableDelivery<VmRequest, Details, RestartPlan, void> = {
  name: 'restartVm',
  recovery: 'undo',
  details,
  subject: vmSubject,
  async reserve({ db }, request) {
    const { vm } = await beginChange(db, request, 'restart');
    return { accountId: vm.account_id, details: { vmId: vm.id }, plan: { request } };
  },
  call: ({ hypervisor }, { request }, token) => hypervisor.restart(request.vmId, token),
  async confirm({ db }, { request: { runtime, vmId } }) {
    await endChange(db, vmId, { booted: runtime.ports.clock.now() });
  },
  // The VM is billed, so it must run.
  compensate: ({ hypervisor }, { vmId }, token) => hypervisor.start(vmId, token),
  rollBack: ({ db }, { vmId }) => leaveAsItIs(db, vmId),
  asTask: {
    async begin() {},
    finish: (transaction, { vmId }, runtime) => restartVm.confirm(transaction, { request: { runtime, vmId } }),
  },
};

/** A request for a new password. */
export interface PasswordReset extends VmRequest {
  /** Undefined to leave the SSH keys of the VM as they are. */
  readonly sshKeyId: string | undefined;
}

interface PasswordPlan {
  readonly vmId: number;
  readonly password: string;
  readonly key: Pick<Selectable<SshKeysTable>, 'public_key' | 'displayname'> | undefined;
}

/** Gives the login user of a running VM a new password, which is the result, and the SSH key that the request names. */
export const resetPassword: UndoableDelivery<PasswordReset, Details, PasswordPlan, string> = {
  name: 'resetPassword',
  recovery: 'undo',
  details,
  subject: vmSubject,
  async reserve({ db }, request) {
    const { vm } = await beginChange(db, request, 'reset-password');
    const { sshKeyId } = request;
    const key = sshKeyId === undefined ? undefined : await findSshKey(db, vm.account_id, sshKeyId);
    if (sshKeyId !== undefined && !key) throw invalid([UNKNOWN_SSH_KEY]);
    const password = newPassword(request.runtime.ports.random);
    return { accountId: vm.account_id, details: { vmId: vm.id }, plan: { vmId: vm.id, password, key } };
  },
  async call({ hypervisor }, { vmId, password, key }, token) {
    try {
      return await hypervisor.setLogin(vmId, { password, sshKey: key?.public_key ?? null }, token);
    } catch (error) {
      throw isGuestError(error) ? guestRefused(vmId) : error;
    }
  },
  async confirm({ db }, { vmId, password, key }) {
    await endChange(db, vmId, { password_enabled: 1, ...(key && { ssh_key: key.public_key, ssh_key_displayname: key.displayname }) });
    return password;
  },
  // The old password cannot be restored. With the new token, the hypervisor rejects a late call that would still set the new one.
  compensate: ({ hypervisor }, { vmId }, token) => hypervisor.start(vmId, token),
  rollBack: ({ db }, { vmId }) => leaveAsItIs(db, vmId),
};

/** The guest agent runs in the system of the customer. */
function guestRefused(vmId: number): Refusal {
  return new Refusal(
    409,
    'wrong_state',
    `The guest agent in the VM ${vmId} does not answer or refuses, so the password is as before. Wait until the VM has booted, check that its QEMU guest agent runs, and send the request again.`,
  );
}

async function leaveAsItIs(db: Db, vmId: number): Promise<void> {
  await endChange(db, vmId);
}
