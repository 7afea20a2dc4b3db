import type { AdoptVmRequest, Reconciliation } from '@reseller/operator-client';

import type { Adoption } from '../core/vm/adopt.ts';
import { adoptVm as adopt } from '../core/vm/adopt.ts';
import { findDifferences } from '../core/vm/compare.ts';
import { releaseVm as release } from '../core/vm/deliveries.ts';
import { vmSubject } from '../core/vm/identifier.ts';
import { readKnown } from '../core/vm/known.ts';
import { runCommand } from '../delivery/command.ts';
import { InfrastructureError } from '../delivery/deliver.ts';
import { issueToken } from '../delivery/reservation.ts';
import type { Runtime } from '../delivery/runtime.ts';
import type { Steps } from '../delivery/steps.ts';
import { DEFAULTS } from '../generated/facts.gen.ts';
import type { ServiceOperation } from './operation.ts';
import { OperatorProblem, requireFound } from './problem.ts';
import { describeVm, vmHooks, vmOf } from './vm.ts';

/** GET /reconcile: the infrastructure is only read, and nothing is corrected. */
export const getReconciliation: ServiceOperation<'getReconciliation'> = {
  kind: 'service',
  async run({ runtime: { store, ports } }): Promise<Reconciliation> {
    const seen = await askInventory(ports.hypervisor);
    if (!seen) return { compared: false, findings: [] };
    const findings = findDifferences(seen, await store.read(readKnown));
    return {
      compared: true,
      findings: findings.map(({ kind, subject, vmId, message }) => ({
        kind,
        subject,
        vm_id: vmId === null ? null : String(vmId),
        message,
      })),
    };
  },
};

/** POST /vms/{vm_id}/adopt */
export const adoptVm: ServiceOperation<'adoptVm'> = {
  kind: 'service',
  async run({ runtime, path, body, now }, record) {
    const vmId = Number(path.vm_id);
    const { vms = [] } = (await askInventory(runtime.ports.hypervisor)) ?? {};
    const machine = vms.find((one) => one.vmId === vmId);
    const adoption = adoptionOf(runtime, { body, now, machine: requireFound(machine, `machine of VM ${vmId}`) });
    await runCommand(runtime, (steps: Steps<void>) => adopt(steps, adoption), {
      before: async () => {},
      after: async (db) => record(db, { before: null, after: await describeVm(db, await vmOf(db, path.vm_id)) }),
    });
    return runtime.store.read(async (db) => describeVm(db, await vmOf(db, path.vm_id)));
  },
};

function adoptionOf(
  runtime: Runtime,
  {
    body: { account_id, hostsystem },
    now,
    machine,
  }: { readonly body: AdoptVmRequest; readonly now: number; readonly machine: Adoption['machine'] },
): Adoption {
  const { cores, mem, disk, os, hostname } = machine;
  if (cores === null || mem === null || disk === null || os === null)
    throw new OperatorProblem(
      'wrong-state',
      'The hypervisor does not say the resources and the operating system of this machine, so it has no price.',
    );
  const { ips, backup_slots, network_speed, hostname: standard } = DEFAULTS.CreateVmForm;
  const size = { cores, mem, disk, storage: null, ips, backup_slots, network_speed };
  const rest = {
    name: null,
    labels: {},
    sshKey: null,
    sshKeyDisplayname: null,
    sshKeyId: null,
    userData: null,
    allowFallbackIPs: true,
    defaultPtr: null,
  };
  return {
    runtime,
    accountId: account_id,
    spender: undefined,
    vm: { ...size, ...rest, os, hostsystem, hostname: hostname ?? standard },
    broken: [],
    maxPrice: undefined,
    now,
    machine,
  };
}

/** POST /vms/{vm_id}/release */
export const releaseVm: ServiceOperation<'releaseVm'> = {
  kind: 'service',
  async run({ runtime, path }, record) {
    const { store, ports } = runtime;
    const vmId = Number(path.vm_id);
    if (!ports.hypervisor.release)
      throw new OperatorProblem('wrong-state', 'The hypervisor of this service has no marks that could be removed. Remove the VM instead.');
    const vm = await store.read((db) => db.selectFrom('vms').selectAll().where('id', '=', vmId).executeTakeFirst());
    if (vm && vm.state !== 'removed') {
      await runCommand(runtime, (steps: Steps<void>) => release(steps, { runtime, vmId }), vmHooks(path.vm_id, record));
      return { vm_id: path.vm_id, was_billed: vm.state === 'running' };
    }
    const { vms = [] } = (await askInventory(ports.hypervisor)) ?? {};
    requireFound(
      vms.find((one) => one.vmId === vmId),
      `machine of VM ${vmId}`,
    );
    const token = await store.commit(({ db }) => issueToken(db, vmSubject({ vmId })));
    await ports.hypervisor.release(vmId, token).catch(unanswered);
    const after = { vm_id: path.vm_id, was_billed: false };
    await store.commit(({ db }) => record(db, { before: null, after }));
    return after;
  },
};

function askInventory({ inventory }: Runtime['ports']['hypervisor']) {
  return inventory?.().catch(unanswered);
}

function unanswered(error: unknown): never {
  throw new InfrastructureError('The hypervisor did not answer. Nothing was changed in the store. Send the request again later.', {
    cause: error,
  });
}
