/** Changes inside a running VM that need the hypervisor and do not affect its billing. */
import * as v from 'valibot';

import type { UndoableDelivery } from '../../delivery/delivery.ts';
import { newPassword } from '../../rules/credentials.ts';
import type { Db } from '../../store/store.ts';
import { beginChange, endChange } from './change.ts';
import type { VmRequest } from './change.ts';
import { vmSubject } from './identifier.ts';

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

interface PasswordPlan {
  readonly vmId: number;
  readonly password: string;
}

/** Gives the login user of a running VM a new password, which is the result. */
export const resetPassword: UndoableDelivery<VmRequest, Details, PasswordPlan, string> = {
  name: 'resetPassword',
  recovery: 'undo',
  details,
  subject: vmSubject,
  async reserve({ db }, request) {
    const { vm } = await beginChange(db, request, 'reset-password');
    const password = newPassword(request.runtime.ports.random);
    return { accountId: vm.account_id, details: { vmId: vm.id }, plan: { vmId: vm.id, password } };
  },
  call: ({ hypervisor }, { vmId, password }, token) => hypervisor.setPassword(vmId, password, token),
  async confirm({ db }, { vmId, password }) {
    await endChange(db, vmId);
    return password;
  },
  // The old password cannot be restored. With the new token, the hypervisor rejects a late call that would still set the new password.
  compensate: ({ hypervisor }, { vmId }, token) => hypervisor.start(vmId, token),
  rollBack: ({ db }, { vmId }) => leaveAsItIs(db, vmId),
};

async function leaveAsItIs(db: Db, vmId: number): Promise<void> {
  await endChange(db, vmId);
}
