import { assertMayBuy } from '../../core/account/spending.ts';
import { assertNotBlocked } from '../../core/vm/change.ts';
import type { VmRequest } from '../../core/vm/change.ts';
import { startVm, stopVm } from '../../core/vm/deliveries.ts';
import { restartVm } from '../../core/vm/guest-deliveries.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import type { Steps } from '../../delivery/steps.ts';
import { invalid } from '../../rules/refusal.ts';
import type { DeliveredOperation } from '../operation.ts';
import { requestOf } from './vm-request.ts';

interface Action {
  readonly mode: string;
  deliver(steps: Steps<void>, request: VmRequest): Promise<void>;
  /** The state that the action leads to. A VM in that state stays unchanged. */
  readonly leadsTo?: 'running' | 'stopped';
  readonly message: string;
  /** While a task of the hypervisor carries it out. */
  readonly begun: string;
}

const ACTIONS: readonly Action[] = [
  {
    mode: 'start',
    deliver: startVm,
    leadsTo: 'running',
    message: 'The VM was started and is billed again.',
    begun: 'The VM is starting, and is billed when it runs.',
  },
  {
    mode: 'stop',
    deliver: stopVm,
    leadsTo: 'stopped',
    message: 'The VM was stopped and is not billed until it starts.',
    begun: 'The VM is stopping, and is not billed until it starts again.',
  },
  { mode: 'restart', deliver: restartVm, message: 'The VM was restarted.', begun: 'The VM is restarting.' },
];

/** POST /vm/{vmid}/power: starts, stops or restarts a VM. */
export const setVmPower: DeliveredOperation<'setVmPower', void> = {
  kind: 'delivered',
  deliver: async (steps, call) => actionOf(call.form.mode).deliver(steps, requestOf(call)),
  async inPlace({ db }, { accountId, form, path, spender }) {
    const { mode, leadsTo, message } = actionOf(form.mode);
    if (leadsTo !== undefined) {
      const vm = await findOwnVm(db, accountId, path.vmid);
      assertNotBlocked(vm);
      if (vm.state === leadsTo && vm.changing === 0) return { message, data: null };
    }
    // Only a start costs money.
    if (mode === 'start') assertMayBuy(spender, 'setVmPower');
    return undefined;
  },
  async success(_result, { accountId, form, path }, { db }) {
    const { message, begun } = actionOf(form.mode);
    const { changing } = await findOwnVm(db, accountId, path.vmid);
    return { message: changing === 0 ? message : begun, data: null };
  },
};

/** @throws Refusal 422 for an unknown mode. */
function actionOf(mode: string): Action {
  const action = ACTIONS.find((one) => one.mode === mode);
  if (action) return action;
  throw invalid([{ field: 'mode', rule: 'exists', message: `must be one of ${ACTIONS.map((one) => one.mode).join(', ')}` }]);
}
