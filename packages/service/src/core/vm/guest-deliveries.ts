/** Changes inside a running VM that need the hypervisor and do not affect its billing. */
import { isGuestError } from '@reseller/adapters';
import * as v from 'valibot';

import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Reserved, Steps } from '../../delivery/steps.ts';
import { newPassword } from '../../rules/credentials.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import { beginChange, endChange } from './change.ts';
import type { VmRequest } from './change.ts';
import { vmSubject } from './identifier.ts';
import { findSshKey, UNKNOWN_SSH_KEY } from './ssh-keys.ts';

const details = v.object({ vmId: v.number() });
type Details = v.InferOutput<typeof details>;

export const vmRestart: UndoableDelivery<Details> = {
  name: 'restartVm',
  details,
  subject: vmSubject,
  afterTask: ({ db }, { vmId }, runtime) => endRestart(db, { runtime, vmId }),
  undo: {
    // The VM is billed, so it must run.
    call: ({ hypervisor }, { vmId }, token) => hypervisor.start(vmId, token),
    store: ({ db }, { vmId }) => leaveAsItIs(db, vmId),
  },
};

/** Restarts a running VM. It stays billed. */
export async function restartVm(steps: Steps<void>, request: VmRequest): Promise<void> {
  await steps.reserve(vmRestart, ({ db }) => reserveRestart(db, request));
  const task = await steps.call(({ hypervisor }, token) => hypervisor.restart(request.vmId, token));
  if (task) return steps.wait(async () => {});
  return steps.confirm(({ db }) => endRestart(db, request));
}

/** Begins a change of a running VM that boots it. */
export async function reserveRestart(db: Db, request: VmRequest): Promise<Reserved<Details>> {
  const { vm } = await beginChange(db, request, 'restart');
  return { accountId: vm.account_id, details: { vmId: vm.id } };
}

export async function endRestart(db: Db, { runtime, vmId }: Pick<VmRequest, 'runtime' | 'vmId'>): Promise<void> {
  await endChange(db, vmId, { booted: runtime.ports.clock.now() });
}

/** A request for a new password. */
export interface PasswordReset extends VmRequest {
  /** Undefined to leave the SSH keys of the VM as they are. */
  readonly sshKeyId: string | undefined;
}

export const passwordReset: UndoableDelivery<Details> = {
  name: 'resetPassword',
  details,
  subject: vmSubject,
  undo: {
    // The old password cannot be restored. With the new token, the hypervisor rejects a late call that would still set the new one.
    call: ({ hypervisor }, { vmId }, token) => hypervisor.start(vmId, token),
    store: ({ db }, { vmId }) => leaveAsItIs(db, vmId),
  },
};

/** Gives the login user of a running VM a new password, which it returns, and the SSH key that the request names. */
export async function resetPassword(steps: Steps<string>, request: PasswordReset): Promise<string> {
  const { runtime, vmId, sshKeyId } = request;
  const password = newPassword(runtime.ports.random);
  const { key } = await steps.reserve(passwordReset, async ({ db }) => {
    const { vm } = await beginChange(db, request, 'reset-password');
    const found = sshKeyId === undefined ? undefined : await findSshKey(db, vm.account_id, sshKeyId);
    if (sshKeyId !== undefined && !found) throw invalid([UNKNOWN_SSH_KEY]);
    return { accountId: vm.account_id, details: { vmId }, key: found };
  });
  await steps.call(async ({ hypervisor }, token) => {
    try {
      return await hypervisor.setLogin(vmId, { password, sshKey: key?.public_key ?? null }, token);
    } catch (error) {
      throw isGuestError(error) ? guestRefused(vmId) : error;
    }
  });
  return steps.confirm(async ({ db }) => {
    await endChange(db, vmId, { password_enabled: 1, ...(key && { ssh_key: key.public_key, ssh_key_displayname: key.displayname }) });
    return password;
  });
}

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
