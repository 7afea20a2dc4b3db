/** Ports of VMs that the service checks, next to the rounds of scheduled jobs. */
import type { Selectable } from 'kysely';

import type { WorkKind } from '../../delivery/background-work.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import type { Db } from '../../store/store.ts';
import type { VmMonitorsTable } from '../../store/tables/vms.ts';
import { requirePart } from './require-part.ts';

/** Milliseconds from one check of a port to the next. */
export const CHECK_INTERVAL_MS = 60_000;
/** Checks that must fail one after another before a port counts as unreachable. */
export const FAILURES = 3;
/** A VM is not checked for this time after its start. */
export const BOOT_MS = 120_000;

type Monitor = Selectable<VmMonitorsTable>;

/** The monitor of a VM; undefined if it never had one. */
export function monitorOf(db: Db, vmId: number): Promise<Monitor | undefined> {
  return db.selectFrom('vm_monitors').selectAll().where('vm_id', '=', vmId).executeTakeFirst();
}

/**
 * Begins or ends the checks of a port of a VM. The same port goes on with the status that it has.
 *
 * @throws Refusal 501 if the hypervisor reaches no ports.
 */
export async function setMonitor(
  db: Db,
  { ports: { hypervisor, clock } }: Runtime,
  { vmId, enabled, port }: { readonly vmId: number; readonly enabled: boolean; readonly port: number },
): Promise<void> {
  if (enabled) requirePart(hypervisor, 'reaches');
  const before = await monitorOf(db, vmId);
  if (before?.enabled === 1 && enabled && before.port === port) return;
  // A port that is no longer checked is no longer an incident: the event about it comes from this change.
  if (before?.status === 'unreachable')
    await db.updateTable('vm_monitors').set({ status: 'reachable' }).where('vm_id', '=', vmId).execute();
  const monitor = { enabled: enabled ? 1 : 0, port, status: 'unknown' as const, failures: 0, next_check: clock.now() };
  await db
    .insertInto('vm_monitors')
    .values({ vm_id: vmId, ...monitor })
    .onConflict((conflict) => conflict.column('vm_id').doUpdateSet(monitor))
    .execute();
}

/** Instances share the checks. @param onFailure Called if the hypervisor or the store fails. The port is checked again after the interval. */
export function portCheckWork(runtime: Runtime, onFailure: (error: unknown) => void): WorkKind<Monitor> {
  const { store, ports } = runtime;
  return {
    places: store.tuning.portChecks,
    due: ports.hypervisor.reaches && ((db) => dueMonitors(db, ports.clock.now()).select('vm_id')),
    async accounts() {
      if (!ports.hypervisor.reaches) return [];
      const rows = await store.read((db) =>
        dueMonitors(db, ports.clock.now())
          .select('vms.account_id')
          .groupBy('vms.account_id')
          .orderBy(({ fn }) => fn.min('next_check'))
          .orderBy('vms.account_id')
          .execute(),
      );
      return rows.map(({ account_id }) => account_id);
    },
    take: (accountId) => claimDueCheck(runtime, accountId),
    async perform(monitor) {
      const isReached = await ports.hypervisor.reaches?.(monitor.vm_id, monitor.port);
      if (isReached === undefined || isReached === null) return;
      await store.commit(({ db }) => storeCheck(db, monitor, isReached));
    },
    onFailure,
  };
}

/** Takes a due check. The time of the next one is stored first, so that no other instance takes it. */
async function claimDueCheck({ store, ports }: Runtime, accountId: string): Promise<Monitor | undefined> {
  const now = ports.clock.now();
  function dueOfAccount(db: Db) {
    return dueMonitors(db, now).selectAll('vm_monitors').where('vms.account_id', '=', accountId).orderBy('next_check').limit(1);
  }
  // Mostly nothing is due, and a read waits for no other transaction.
  if ((await store.read((db) => dueOfAccount(db).executeTakeFirst())) === undefined) return undefined;
  return store.commit(async ({ db }) => {
    const due = await store.sharing.claim(dueOfAccount(db), 'vm_monitors', 'skip').executeTakeFirst();
    if (due === undefined) return undefined;
    await db
      .updateTable('vm_monitors')
      .set({ next_check: now + CHECK_INTERVAL_MS })
      .where('vm_id', '=', due.vm_id)
      .execute();
    return due;
  });
}

function dueMonitors(db: Db, now: number) {
  return checkable(db)
    .where('next_check', '<=', now)
    .where('vms.booted', '<=', now - BOOT_MS);
}

/** Monitors of VMs that run, are not being changed, and are not of a suspended account. */
function checkable(db: Db) {
  return db
    .selectFrom('vm_monitors')
    .innerJoin('vms', 'vms.id', 'vm_monitors.vm_id')
    .innerJoin('accounts', 'accounts.id', 'vms.account_id')
    .where('enabled', '=', 1)
    .where('vms.state', '=', 'running')
    .where('vms.changing', '=', 0)
    .where('accounts.suspended_at', 'is', null);
}

/** Stores what a check has found, unless the VM or its monitor has changed meanwhile. */
async function storeCheck(db: Db, { vm_id, port, failures, status: before }: Monitor, isReached: boolean): Promise<void> {
  const present = await checkable(db).selectAll('vm_monitors').where('vm_id', '=', vm_id).where('port', '=', port).executeTakeFirst();
  if (present?.failures !== failures || present.status !== before) return;
  const count = isReached ? 0 : failures + 1;
  const status = isReached ? 'reachable' : count >= FAILURES ? 'unreachable' : before;
  if (count === failures && status === before) return;
  await db
    .updateTable('vm_monitors')
    .set({ failures: Math.min(count, FAILURES), status })
    .where('vm_id', '=', vm_id)
    .where('port', '=', port)
    .where('enabled', '=', 1)
    .where('failures', '=', failures)
    .execute();
}
