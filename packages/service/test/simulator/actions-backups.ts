/** Resellers make, restore and delete backups of their VMs. */
import { expect } from 'vitest';

import { beginVmChange, heldCreditOnly } from './actions-vm.ts';
import type { ModelAccount, ModelBackup, ModelVm } from './model.ts';
import { remove } from './model.ts';
import { buyVm } from './purchases.ts';
import { notFound, portAway, send, uncertain, wrongState } from './requests.ts';
import type { Refused } from './requests.ts';
import type { Simulation } from './simulation.ts';

const noSlot: Refused = { status: 409, type: 'quota_exceeded' };
const UNKNOWN_BACKUP = '01900000-0000-7000-8000-00000000dead';

export async function changeBackups(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const vm = dice.pickAny(model.vms.slice(-25));
  if (!vm) return buyVm(sim);
  const backup = dice.chance(0.9) ? dice.pickAny(vm.backups) : undefined;
  const action = dice.weighted([
    { weight: 5, run: () => makeBackup(sim, vm) },
    { weight: 3, run: () => restoreBackup(sim, vm, backup) },
    { weight: 2, run: () => deleteBackup(sim, vm, backup) },
  ]);
  return action.run();
}

function blocked({ abuse }: ModelVm): Refused | undefined {
  return abuse.status === 'BLOCKED' ? wrongState : undefined;
}

/** The refusal of any change of a VM that has backups. */
function busy(vm: ModelVm): Refused | undefined {
  if (vm.state === 'removed') return notFound;
  return vm.changing ? wrongState : undefined;
}

function makeBackup(sim: Simulation, vm: ModelVm): Promise<void> {
  return send(sim, {
    account: vm.account,
    id: 'createVmBackup',
    sent: { path: { vmid: String(vm.id) }, form: {} },
    otherForm: { description: 'another' },
    predict: () => ({
      portUse: 'a port, and one to undo it',
      refusal: busy(vm) ?? (vm.backups.length >= vm.resources.backup_slots ? noSlot : undefined),
      delivery: 'createBackup',
      reserve() {
        const end = beginVmChange(sim, vm, heldCreditOnly(vm));
        const { os, sshKey } = vm;
        return {
          release: end,
          confirm(reply) {
            end();
            const machine = sim.world.hypervisor.vms.get(vm.id);
            vm.backups.push({ id: reply.data().backup_id, os, sshKey, hostname: machine?.hostname ?? '' });
          },
        };
      },
    }),
  });
}

function restoreBackup(sim: Simulation, vm: ModelVm, backup: ModelBackup | undefined): Promise<void> {
  return send(sim, {
    account: vm.account,
    id: 'restoreVmBackup',
    sent: { path: { vmid: String(vm.id) }, form: { backup_id: backup?.id ?? UNKNOWN_BACKUP } },
    otherForm: { backup_id: 'another' },
    predict: () => ({
      portUse: 'a port, and one to undo it',
      refusal: busy(vm) ?? blocked(vm) ?? (backup === undefined || !vm.backups.includes(backup) ? notFound : undefined),
      delivery: 'restoreBackup',
      portFailure: uncertain,
      reserve() {
        const end = beginVmChange(sim, vm, heldCreditOnly(vm));
        return {
          release: end,
          confirm() {
            end();
            if (!backup) return;
            vm.os = backup.os;
            vm.sshKey = backup.sshKey;
            vm.iso = null;
            if (vm.state === 'running') vm.unusedIps.clear();
            const { os, sshKey, hostname } = backup;
            expect(sim.world.hypervisor.vms.get(vm.id)).toMatchObject({ os, sshKey, hostname });
          },
        };
      },
    }),
  });
}

function deleteBackup(sim: Simulation, vm: ModelVm, backup: ModelBackup | undefined): Promise<void> {
  return send(sim, {
    account: vm.account,
    id: 'deleteVmBackup',
    sent: { path: { vmid: String(vm.id), backup_id: backup?.id ?? UNKNOWN_BACKUP } },
    predict: () => ({
      portUse: 'a port, until it succeeds',
      refusal: busy(vm) ?? (backup === undefined || !vm.backups.includes(backup) ? notFound : undefined),
      delivery: 'deleteBackup',
      portFailure: portAway,
      reserve() {
        const end = beginVmChange(sim, vm, heldCreditOnly(vm));
        const finish = () => {
          end();
          if (backup) remove(vm.backups, backup);
        };
        return { release: finish, confirm: finish };
      },
    }),
  });
}

/** Compares the backups of a VM. */
export async function checkBackups({ client }: Simulation, account: ModelAccount, vm: ModelVm): Promise<void> {
  if (vm.changing) return;
  const { slots, list } = (await client.call(account, 'listVmBackups', { path: { vmid: String(vm.id) } })).data();
  expect(slots).toBe(vm.resources.backup_slots);
  expect(
    list.map(({ backup_id, os, status }) => ({ backup_id, os, status })),
    `backups of VM ${vm.id}`,
  ).toEqual(vm.backups.map(({ id, os }) => ({ backup_id: id, os, status: 'available' })));
}
