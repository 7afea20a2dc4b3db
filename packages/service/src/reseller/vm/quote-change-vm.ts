import { findOwnVm } from '../../core/vm/own-vm.ts';
import { quotedResize } from '../../core/vm/quote-resize.ts';
import type { ReadOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';
import { resizeOf } from './change-vm.ts';

/** POST /vm/{vmid}/change/quote: the price of other resources of a VM. */
export const quoteChangeVm: ReadOperation<'quoteChangeVm'> = {
  kind: 'read',
  settles: true,
  async run(db, { accountId, path, form, now }) {
    const vm = await findOwnVm(db, accountId, path.vmid);
    const { resources } = resizeOf(form);
    return quoteSuccess(db, await quotedResize(db, vm, { resources, now }), { accountId, now });
  },
};
