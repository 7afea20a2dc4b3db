import { assertMayBuy } from '../../core/account/spending.ts';
import type { VmRequest } from '../../core/vm/change.ts';
import { startVm, stopVm } from '../../core/vm/deliveries.ts';
import { restartVm } from '../../core/vm/guest-deliveries.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import type { DeliveryOrder } from '../../delivery/deliver.ts';
import type { Delivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { invalid } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import { deliverCore, refuseDelivery } from '../operation.ts';
import type { Call, CommandOperation, Success } from '../operation.ts';
import { requestOf } from './vm-request.ts';

type Order<Outcome> = DeliveryOrder<Call<'setVmPower'>, Success<'setVmPower'>, Outcome>;

interface Action {
  readonly mode: string;
  /** The state that the action leads to. A VM in that state stays unchanged. */
  readonly leadsTo?: 'running' | 'stopped';
  readonly success: Success<'setVmPower'>;
  deliver<Outcome>(runtime: Runtime, order: Order<Outcome>): Promise<Outcome>;
}

const ACTIONS: readonly Action[] = [
  toAction('start', startVm, { name: 'startVm', leadsTo: 'running', message: 'The VM was started and is billed again.' }),
  toAction('stop', stopVm, { name: 'stopVm', leadsTo: 'stopped', message: 'The VM was stopped and is not billed until it starts.' }),
  toAction('restart', restartVm, { name: 'restartVm', message: 'The VM was restarted.' }),
];

/** POST /vm/{vmid}/power: starts, stops or restarts a VM. */
export const setVmPower: CommandOperation<'setVmPower'> = {
  kind: 'command',
  async deliver(runtime, order) {
    const { form } = order.request;
    const action = ACTIONS.find(({ mode }) => mode === form.mode);
    if (!action) {
      const message = `must be one of ${ACTIONS.map(({ mode }) => mode).join(', ')}`;
      return refuseDelivery(runtime, order, invalid([{ field: 'mode', rule: 'exists', message }]));
    }
    return action.deliver(runtime, {
      ...order,
      reserving: (transaction, reserve) =>
        order.reserving(transaction, async () => {
          if (await isDone(transaction.db, action, order.request)) return order.confirming(transaction, action.success);
          // Only a start costs money.
          if (action.mode === 'start') assertMayBuy(order.request.spender, 'setVmPower');
          return reserve();
        }),
    });
  },
};

function toAction<Details, Plan>(
  mode: string,
  delivery: Delivery<VmRequest, Details, Plan, void>,
  { name, message, ...leadsTo }: Pick<Action, 'leadsTo'> & { readonly name: string; readonly message: string },
): Action {
  const success = { message, data: null };
  return {
    mode,
    ...leadsTo,
    success,
    deliver: (runtime, order) => deliverCore(runtime, order, { name, delivery, request: requestOf, success: async () => success }),
  };
}

/** Whether the VM already has the state that the action leads to. */
async function isDone(db: Db, { leadsTo }: Action, { accountId, path }: Call<'setVmPower'>): Promise<boolean> {
  if (leadsTo === undefined) return false;
  const vm = await findOwnVm(db, accountId, path.vmid);
  return vm.state === leadsTo && vm.changing === 0;
}
