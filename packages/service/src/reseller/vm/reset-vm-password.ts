import { resetPassword } from '../../core/vm/guest-deliveries.ts';
import { commandOperation } from '../operation.ts';
import { requestOf } from './vm-request.ts';

/** POST /vm/{vmid}/password-reset: gives the login user of a running VM a new password. */
export const resetVmPassword = commandOperation('resetVmPassword', {
  name: 'resetPassword',
  delivery: resetPassword,
  request: requestOf,
  success: async (password) => ({ message: 'The password was reset.', data: { password } }),
});
