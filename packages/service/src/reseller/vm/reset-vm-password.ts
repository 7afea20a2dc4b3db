import { resetPassword } from '../../core/vm/guest-deliveries.ts';
import type { DeliveredOperation } from '../operation.ts';
import { requestOf } from './vm-request.ts';

/** POST /vm/{vmid}/password-reset: gives the login user of a running VM a new password, and the SSH key of the form. */
export const resetVmPassword: DeliveredOperation<'resetVmPassword', string> = {
  kind: 'delivered',
  deliver: (steps, call) => resetPassword(steps, { ...requestOf(call), sshKeyId: call.form.ssh_key_id }),
  success: async (password) => ({ message: 'The password was reset.', data: { password } }),
};
