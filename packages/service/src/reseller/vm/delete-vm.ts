import { removeVm } from '../../core/vm/deliveries.ts';
import { commandOperation } from '../operation.ts';
import { requestOf } from './vm-request.ts';

/** DELETE /vm/{vmid}/delete: removes a VM. Its billing ends immediately. */
export const deleteVm = commandOperation('deleteVm', {
  name: 'removeVm',
  delivery: removeVm,
  request: requestOf,
  success: async () => ({ message: 'The VM was deleted and is no longer billed.', data: null }),
});
