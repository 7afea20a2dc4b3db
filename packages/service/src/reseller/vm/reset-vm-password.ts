import type { VmRequest } from '../../core/vm/change.ts';
import { resetPassword } from '../../core/vm/guest-deliveries.ts';
import type { DeliveredOperation } from '../operation.ts';
import { requestOf } from './vm-request.ts';

/** POST /vm/{vmid}/password-reset: gives the login user of a running VM a new password. */
export const resetVmPassword: DeliveredOperation<'resetVmPassword', VmRequest, string> = {
  kind: 'delivered',
  deliveryFor: () => resetPassword,
  requestOf,
  success: async (password) => ({ message: 'The password was reset.', data: { password } }),
};
