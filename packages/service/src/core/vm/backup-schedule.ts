import { runCommand } from '../../delivery/command.ts';
/** Backups that the service makes by itself, at the times that an account has chosen. */
import type { Runtime } from '../../delivery/runtime.ts';
import type { Db } from '../../store/store.ts';
import { backupsOf, createBackup, deleteBackup } from './backups.ts';

/** Seconds between two backups. */
export const INTERVALS: Readonly<Record<string, number>> = { daily: 86_400, weekly: 604_800 };

/** A scheduled backup that was not made. */
export interface FailedBackup {
  readonly vmId: number;
  readonly error: unknown;
}

const RETRY_SECONDS = 3_600;

/** Sets or ends the schedule of a VM. The first backup is due after one interval. @param now Milliseconds. */
export async function setSchedule(db: Db, vmId: number, schedule: string | null, now: number): Promise<void> {
  const interval = schedule === null ? undefined : INTERVALS[schedule];
  const due = interval === undefined ? null : Math.floor(now / 1000) + interval;
  await db.updateTable('vms').set({ backup_schedule: schedule, backup_due: due }).where('id', '=', vmId).execute();
}

/**
 * Makes the backups that are due, one after another. A VM whose slots are full loses its oldest scheduled backup first. A backup that fails is due
 * again after an hour.
 *
 * @param now Milliseconds.
 */
export async function makeScheduledBackups(runtime: Runtime, now: number, onFailure: (failed: FailedBackup) => void): Promise<void> {
  const { store } = runtime;
  const instant = Math.floor(now / 1000);
  const due = await store.read((db) =>
    db
      .selectFrom('vms')
      .select(['id', 'backup_due', 'backup_schedule'])
      .where('backup_due', '<=', instant)
      .where('state', 'in', ['running', 'stopped'])
      .orderBy('backup_due')
      .orderBy('id')
      .limit(store.tuning.jobBatch)
      .execute(),
  );
  for (const { id: vmId, backup_due: dueAt, backup_schedule: schedule } of due) {
    const interval = INTERVALS[schedule ?? ''] ?? RETRY_SECONDS;
    const next = (dueAt ?? instant) + Math.ceil((instant - (dueAt ?? instant) + 1) / interval) * interval;
    // Another instance may have begun it.
    if (!(await moveDue(runtime, { vmId, from: dueAt, to: next }))) continue;
    try {
      await makeRoom(runtime, vmId);
      await runCommand(runtime, createBackup, { runtime, vmId, description: 'Scheduled', isScheduled: true });
    } catch (error) {
      await moveDue(runtime, { vmId, from: next, to: instant + RETRY_SECONDS });
      onFailure({ vmId, error });
    }
  }
}

async function moveDue({ store }: Runtime, { vmId, from, to }: { vmId: number; from: number | null; to: number }): Promise<boolean> {
  const { numUpdatedRows } = await store.commit(({ db }) =>
    db.updateTable('vms').set({ backup_due: to }).where('id', '=', vmId).where('backup_due', '=', from).executeTakeFirst(),
  );
  return numUpdatedRows > 0n;
}

async function makeRoom(runtime: Runtime, vmId: number): Promise<void> {
  const { slots, backups } = await runtime.store.read(async (db) => {
    const vm = await db.selectFrom('vms').select('backup_slots').where('id', '=', vmId).executeTakeFirstOrThrow();
    return { slots: vm.backup_slots, backups: await backupsOf(db, vmId) };
  });
  const oldest = backups.find(({ is_scheduled, state }) => is_scheduled === 1 && state === 'available');
  if (backups.length >= slots && oldest) await runCommand(runtime, deleteBackup, { runtime, vmId, backupId: oldest.id });
}
