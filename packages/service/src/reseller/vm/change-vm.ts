import { vatAt } from '../../core/accounting/account-vat.ts';
import { resizeVm } from '../../core/vm/deliveries.ts';
import type { Resize } from '../../core/vm/deliveries.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import { DEFAULTS } from '../../generated/facts.gen.ts';
import type { Money } from '../../rules/money.ts';
import type { Call, DeliveredOperation } from '../operation.ts';
import { requestOf } from './vm-request.ts';
import { toPricings, toResources } from './vm-resources.ts';

/** POST /vm/{vmid}/change: gives a VM other resources. */
export const changeVm: DeliveredOperation<'changeVm', Money> = {
  kind: 'delivered',
  deliver: (steps, call) => resizeVm(steps, { ...requestOf(call), ...resizeOf(call.form) }),
  async success(monthly, { accountId, path, form, now }, { db }) {
    const vm = await findOwnVm(db, accountId, path.vmid);
    return {
      message:
        vm.changing === 0 ? 'The VM was changed.' : 'The VM is being changed. GET /vm/{vmid}/config shows the resources when it is done.',
      // While a task changes the VM, the store still has the earlier resources.
      data: {
        newConfig: toResources({ ...vm, ...resizeOf(form).resources }),
        pricings: toPricings(monthly, await vatAt(db, accountId, now)),
      },
      bought: { kind: 'vm', subject: String(vm.id), price: Number(monthly) },
    };
  },
};

export function resizeOf({ max_price, storage, ...form }: Call<'changeVm'>['form']): Resize {
  const { allowFallbackIPs, ...resources } = { ...DEFAULTS.ChangeVmForm, ...form };
  // The store has null for a VM without HDD storage.
  return { resources: { ...resources, ...(storage !== undefined && { storage: storage || null }) }, allowFallbackIPs, maxPrice: max_price };
}
