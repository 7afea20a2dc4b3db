/**
 * Machines of running VMs that ended by themselves: the host rebooted, the machine crashed or was killed. The service finds them in a round of
 * measurements and starts them again. A VM stays billed meanwhile, because it keeps its room on the node. If its machine does not start after some
 * attempts, the VM is stopped as if its reseller had stopped it, which ends its billing.
 */
import type { WorkKind } from '../../delivery/background-work.ts';
import { runCommand } from '../../delivery/command.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import type { Db } from '../../store/store.ts';
import { beginChange, endChange } from './change.ts';
import type { VmRequest } from './change.ts';
import { stopVm, vmDetails } from './deliveries.ts';
import type { VmDetails } from './deliveries.ts';
import { vmSubject } from './identifier.ts';

/** Starts the machine of a running VM. If that fails, the machine stays stopped until the next attempt. */
export const startMachine: UndoableDelivery<VmRequest, VmDetails, VmRequest, void> = {
  name: 'startMachine',
  recovery: 'undo',
  details: vmDetails,
  subject: vmSubject,
  async reserve({ db }, request) {
    const { vm } = await beginChange(db, request, 'restart');
    return { accountId: vm.account_id, details: { vmId: vm.id }, plan: request };
  },
  call: ({ hypervisor }, { vmId }, token) => hypervisor.start(vmId, token),
  async confirm({ db }, { runtime, vmId }) {
    await endChange(db, vmId, { booted: runtime.ports.clock.now() });
  },
  compensate: ({ hypervisor }, { vmId }, token) => hypervisor.stop(vmId, token),
  async rollBack({ db }, { vmId }) {
    await endChange(db, vmId);
  },
  asTask: {
    async begin() {},
    finish: (transaction, { vmId }, runtime) => startMachine.confirm(transaction, { runtime, vmId }),
  },
};

/** After this many failed attempts, the VM is stopped. */
const MAX_ATTEMPTS = 5;
/** The wait doubles after each failed attempt, so that the last one is half an hour after the first. */
const FIRST_WAIT_MS = 120_000;

/** A VM whose machine is due to be started again. */
interface DueStart {
  readonly vmId: number;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
}

/** A machine that was not started again. */
export interface FailedStart {
  /** Undefined if the machines could not be read. */
  readonly vmId: number | undefined;
  readonly error: unknown;
}

/**
 * Notes which machines of running VMs do not run. The hypervisor is asked only if it left VMs out of a measurement, because it also leaves out
 * those that it cannot measure now.
 *
 * @param vmIds The VMs that were to be measured.
 * @param measured Those that were.
 * @throws Error if the hypervisor does not respond.
 */
export async function noteEndedMachines(runtime: Runtime, vmIds: readonly number[], measured: ReadonlySet<number>): Promise<void> {
  const { store, ports } = runtime;
  const missing = vmIds.filter((vmId) => !measured.has(vmId));
  if (missing.length === 0 || !ports.hypervisor.inventory) return;
  const { vms } = await ports.hypervisor.inventory();
  const machines = new Map(vms.map((machine) => [machine.vmId, machine.running]));
  // Null means that the system does not say.
  const ended = missing.filter((vmId) => machines.get(vmId) === false || !machines.has(vmId));
  if (ended.length === 0) return;
  const now = ports.clock.now();
  await store.commit(({ db }) =>
    db
      .updateTable('vms')
      .set({ machine_ended: now, start_attempts: 0, next_start: now })
      .where('id', 'in', ended)
      .where('state', '=', 'running')
      .where('changing', '=', 0)
      .where('is_sample', '=', 0)
      .where('machine_ended', 'is', null)
      .execute(),
  );
}

/** Starts machines that ended by themselves. */
export function restartWork(runtime: Runtime, onFailure: (failed: FailedStart) => void): WorkKind<DueStart> {
  const { store, ports } = runtime;
  return {
    places: store.tuning.restartedMachines,
    due: (db) => dueStarts(db, ports.clock.now()).select('id'),
    async accounts() {
      const rows = await store.read((db) =>
        dueStarts(db, ports.clock.now())
          .select('account_id')
          .groupBy('account_id')
          .orderBy(({ fn }) => fn.min('next_start'))
          .orderBy('account_id')
          .execute(),
      );
      return rows.map(({ account_id }) => account_id);
    },
    async take(accountId) {
      const now = ports.clock.now();
      for (;;) {
        const due = await store.read((db) =>
          dueStarts(db, now)
            .select(['id', 'start_attempts', 'next_start'])
            .where('account_id', '=', accountId)
            .orderBy('next_start')
            .orderBy('id')
            .limit(1)
            .executeTakeFirst(),
        );
        if (due === undefined) return undefined;
        const attempt = due.start_attempts + 1;
        // Another instance may have taken it.
        const { numUpdatedRows } = await store.commit(({ db }) =>
          db
            .updateTable('vms')
            .set({ start_attempts: attempt, next_start: now + FIRST_WAIT_MS * 2 ** (attempt - 1) })
            .where('id', '=', due.id)
            .where('next_start', '=', due.next_start)
            .executeTakeFirst(),
        );
        if (numUpdatedRows > 0n) return { vmId: due.id, attempt };
      }
    },
    async perform({ vmId, attempt }) {
      try {
        await runCommand(runtime, startMachine, { runtime, vmId });
      } catch (error) {
        onFailure({ vmId, error });
        if (attempt >= MAX_ATTEMPTS) await runCommand(runtime, stopVm, { runtime, vmId });
      }
    },
    onFailure: (error) => onFailure({ vmId: undefined, error }),
  };
}

export function dueStarts(db: Db, now: number) {
  return db
    .selectFrom('vms')
    .where('machine_ended', 'is not', null)
    .where('state', '=', 'running')
    .where('changing', '=', 0)
    .where('next_start', '<=', now);
}
