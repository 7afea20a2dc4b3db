/** The provider handles complaints about VMs, and resellers hand in statements. */
import { expect } from 'vitest';

import { heldCreditOnly, leaveInProgress } from './actions-vm.ts';
import { runningSegment } from './model-billing.ts';
import { settleModel } from './model-jobs.ts';
import type { ModelVm } from './model.ts';
import { runChange } from './provider-operations.ts';
import { buyVm } from './purchases.ts';
import { notFound, send, wrongState } from './requests.ts';
import type { Refused } from './requests.ts';
import type { Simulation } from './simulation.ts';

const STATUSES = ['CLEAN', 'WARNED', 'STATEMENT_EXPECTED', 'BLOCKED'] as const;
type Status = (typeof STATUSES)[number];

export async function handleComplaint(sim: Simulation): Promise<void> {
  const vm = sim.dice.pickAny(sim.model.vms.slice(-25));
  if (!vm) return buyVm(sim);
  return sim.dice.chance(0.4) ? submitStatement(sim, vm) : setStatus(sim, vm);
}

async function setStatus(sim: Simulation, vm: ModelVm): Promise<void> {
  const status: Status = sim.dice.pick(STATUSES);
  const reason = `complaint ${sim.dice.integer(1, 2)}`;
  const stops = status === 'BLOCKED' && vm.state === 'running';
  sim.describe(`the provider: ${status} because of ${reason} for the ${vm.state} VM ${vm.id} of ${vm.account.name}`);
  const outcome = await runChange(sim, () => sim.client.service().vms.setAbuseStatus(vm.id, { status, reason }), {
    refusal: refusalOf(vm, { status, reason }),
    callsPort: stops,
    isUndone: false,
  });
  if (outcome === 'refused') return;
  if (vm.abuse.status === status && vm.abuse.reason === reason) return;
  if (stops || (vm.abuse.status === 'BLOCKED' && status !== 'BLOCKED')) settleModel(sim, vm.account);
  const running = runningSegment(vm);
  if (vm.abuse.status === 'BLOCKED' && status !== 'BLOCKED' && running) running.stop = sim.clock.seconds();
  if (stops) vm.state = 'stopped';
  Object.assign(vm.abuse, { status, reason, ...((status === 'CLEAN' || status === 'STATEMENT_EXPECTED') && { statement: null }) });
  if (outcome === 'interrupted') leaveInProgress(sim, vm, 'blockVm', heldCreditOnly(vm));
}

function refusalOf({ state, changing, abuse }: ModelVm, wanted: { readonly status: Status; readonly reason: string }): Refused | undefined {
  if (state === 'removed') return wrongState;
  if (abuse.status === wanted.status && abuse.reason === wanted.reason) return undefined;
  return wanted.status === 'BLOCKED' && changing ? wrongState : undefined;
}

function submitStatement(sim: Simulation, vm: ModelVm): Promise<void> {
  const statement = `cause ${sim.dice.integer(1, 9)}`;
  return send(sim, {
    account: vm.account,
    id: 'submitVmAbuseStatement',
    sent: { path: { vmid: String(vm.id) }, form: { statement } },
    otherForm: { statement: 'another' },
    predict: () => ({
      portUse: 'no port',
      refusal: vm.state === 'removed' ? notFound : ['STATEMENT_EXPECTED', 'BLOCKED'].includes(vm.abuse.status) ? undefined : wrongState,
      reserve: () => ({
        release: () => {},
        confirm(reply) {
          expect(reply.data()).toBeNull();
          vm.abuse.statement = statement;
        },
      }),
    }),
  });
}
