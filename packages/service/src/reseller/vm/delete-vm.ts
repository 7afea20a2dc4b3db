import { removeVm } from '../../core/vm/deliveries.ts';
import type { DeliveredOperation } from '../operation.ts';
import { requestOf } from './vm-request.ts';

/** DELETE /vm/{vmid}/delete: removes a VM. Its billing ends immediately. */
export const deleteVm: DeliveredOperation<'deleteVm', void> = {
  kind: 'delivered',
  deliver: (steps, call) => removeVm(steps, requestOf(call)),
  success: async () => ({ message: 'The VM was deleted and is no longer billed.', data: null }),
};
