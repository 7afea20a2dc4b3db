/**
 * Machines of running VMs that ended by themselves: the host rebooted, the machine crashed or was killed. The service finds them in the list of
 * what runs, or in a round of measurements if the hypervisor has no list, and starts them again. A VM stays billed meanwhile, because it keeps
 * its room on the node. If its machine does not start after some attempts, the VM is stopped as if its reseller had stopped it, which ends its billing.
 */
import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';

import type { WorkKind } from '../../delivery/background-work.ts';
import { runCommand } from '../../delivery/command.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import type { Steps } from '../../delivery/steps.ts';
import type { Schema } from '../../store/schema.ts';
import { readSetting, writeSetting } from '../../store/settings.ts';
import type { Db, Store } from '../../store/store.ts';
import { endChange } from './change.ts';
import type { VmRequest } from './change.ts';
import { stopVm, vmDetails } from './deliveries.ts';
import type { VmDetails } from './deliveries.ts';
import { endRestart, reserveRestart } from './guest-deliveries.ts';
import { vmSubject } from './identifier.ts';

export const machineStart: UndoableDelivery<VmDetails> = {
  name: 'startMachine',
  details: vmDetails,
  subject: vmSubject,
  afterTask: ({ db }, { vmId }, runtime) => endRestart(db, { runtime, vmId }),
  undo: {
    call: ({ hypervisor }, { vmId }, token) => hypervisor.stop(vmId, token),
    async store({ db }, { vmId }) {
      await endChange(db, vmId);
    },
  },
};

/** Starts the machine of a running VM. If that fails, the machine stays stopped until the next attempt. */
async function startMachine(steps: Steps<void>, request: VmRequest): Promise<void> {
  await steps.reserve(machineStart, ({ db }) => reserveRestart(db, request));
  const task = await steps.call(({ hypervisor }, token) => hypervisor.start(request.vmId, token));
  if (task) return steps.wait(async () => {});
  return steps.confirm(({ db }) => endRestart(db, request));
}

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
  await noteEnded(store, ended, ports.clock.now());
}

/** @param now Milliseconds. */
async function noteEnded(store: Store, ended: readonly number[], now: number, condition = shouldRun): Promise<void> {
  if (ended.length === 0) return;
  await store.commit(({ db }) =>
    db
      .updateTable('vms')
      .set({ machine_ended: now, start_attempts: 0, next_start: now })
      .where('id', 'in', ended)
      .where(condition)
      .execute(),
  );
}

type VmCondition = (eb: ExpressionBuilder<Schema, 'vms'>) => Expression<SqlBool>;

/** A VM whose machine should run, and is not known to have ended. */
const shouldRun: VmCondition = (eb) =>
  eb.and([eb('state', '=', 'running'), eb('changing', '=', 0), eb('is_sample', '=', 0), eb('machine_ended', 'is', null)]);

/** Such a VM whose machine was started before a time in milliseconds. */
function shouldRunSince(time: number): VmCondition {
  return (eb) => eb.and([shouldRun(eb), eb('booted', '<', time)]);
}

const LOOK_INTERVAL_MS = 30_000;
/** Of the settings: when the look at the list began that an instance took last. */
const LAST_LOOK = 'machines_look';

/**
 * Asks the hypervisor which VMs run, once in each interval whatever the number of VMs and instances, and notes the machines that ended.
 *
 * @throws Error if the hypervisor or the store does not respond.
 */
export async function lookForEndedMachines({ store, ports }: Runtime): Promise<void> {
  if (!ports.hypervisor.running) return;
  const now = ports.clock.now();
  if (!(await takeLook(store, now))) return;
  const running = new Set(await ports.hypervisor.running());
  // A machine that was started meanwhile need not be in the list.
  const expected = shouldRunSince(now);
  const { statementRows } = store.tuning;
  for (let after = 0, hasMore = true; hasMore;) {
    const vms = await store.read((db) =>
      db.selectFrom('vms').select('id').where(expected).where('id', '>', after).orderBy('id').limit(statementRows).execute(),
    );
    const vmIds = vms.map(({ id }) => id);
    await noteEnded(
      store,
      vmIds.filter((id) => !running.has(id)),
      now,
      expected,
    );
    after = vmIds.at(-1) ?? after;
    hasMore = vmIds.length === statementRows;
  }
}

/** A query with a row if a look is due. */
export function dueLook(db: Db, now: number): Expression<unknown> {
  const taken = db.selectFrom('settings').select('name').where('name', '=', LAST_LOOK).where('value', '=', lookAt(now));
  return sql`(select 1 where not exists ${taken})`;
}

function lookAt(now: number): string {
  return String(Math.floor(now / LOOK_INTERVAL_MS) * LOOK_INTERVAL_MS);
}

/** @returns False if this or another instance has taken the look. */
async function takeLook(store: Store, now: number): Promise<boolean> {
  const look = lookAt(now);
  if ((await store.read((db) => readSetting(db, LAST_LOOK))) === look) return false;
  return store.commit(async ({ db }) => {
    await store.sharing.lock(db, LAST_LOOK);
    if ((await readSetting(db, LAST_LOOK)) === look) return false;
    await writeSetting(db, LAST_LOOK, look);
    return true;
  });
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
        const due = await store.read((db) => nextStart(db, { accountId, now }).executeTakeFirst());
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
        await runCommand(runtime, (steps: Steps<void>) => startMachine(steps, { runtime, vmId }));
      } catch (error) {
        onFailure({ vmId, error });
        if (attempt >= MAX_ATTEMPTS) await runCommand(runtime, (steps: Steps<void>) => stopVm(steps, { runtime, vmId }));
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

/** A query of the VM of an account whose machine has waited longest for its start. */
export function nextStart(db: Db, { accountId, now }: { readonly accountId: string; readonly now: number }) {
  return dueStarts(db, now)
    .select(['id', 'start_attempts', 'next_start'])
    .where('account_id', '=', accountId)
    .orderBy('next_start')
    .orderBy('id')
    .limit(1);
}
