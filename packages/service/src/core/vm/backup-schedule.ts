/** Backups that the service makes by itself, at the times that an account has chosen. */
import type { WorkKind } from '../../delivery/background-work.ts';
import { runCommand } from '../../delivery/command.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import type { Db } from '../../store/store.ts';
import { backupsOf, createBackup, deleteBackup } from './backups.ts';

/** Seconds between two backups. */
export const INTERVALS: Readonly<Record<string, number>> = { daily: 86_400, weekly: 604_800 };

/** A scheduled backup that was not made. */
export interface FailedBackup {
  /** Undefined if the due backups could not be read. */
  readonly vmId: number | undefined;
  readonly error: unknown;
}

const RETRY_SECONDS = 3_600;

/** Sets or ends the schedule of a VM. The first backup is due after one interval. @param now Milliseconds. */
export async function setSchedule(db: Db, vmId: number, schedule: string | null, now: number): Promise<void> {
  const interval = schedule === null ? undefined : INTERVALS[schedule];
  const due = interval === undefined ? null : Math.floor(now / 1000) + interval;
  await db.updateTable('vms').set({ backup_schedule: schedule, backup_due: due }).where('id', '=', vmId).execute();
}

/** A VM whose backup is due, and is already due again at another time. */
interface DueBackup {
  readonly vmId: number;
  /** Seconds. */
  readonly next: number;
}

/**
 * Makes the backups that are due. A VM whose slots are full loses its oldest scheduled backup first. A backup that fails is due again after an
 * hour.
 */
export function backupWork(runtime: Runtime, onFailure: (failed: FailedBackup) => void): WorkKind<DueBackup> {
  const { store, ports } = runtime;
  function instantNow() {
    return Math.floor(ports.clock.now() / 1000);
  }
  return {
    places: store.tuning.scheduledBackups,
    async accounts() {
      const rows = await store.read((db) =>
        dueAt(db, instantNow())
          .select('account_id')
          .groupBy('account_id')
          .orderBy(({ fn }) => fn.min('backup_due'))
          .orderBy('account_id')
          .execute(),
      );
      return rows.map(({ account_id }) => account_id);
    },
    async take(accountId) {
      const instant = instantNow();
      for (;;) {
        const due = await store.read((db) =>
          dueAt(db, instant)
            .select(['id', 'backup_due', 'backup_schedule'])
            .where('account_id', '=', accountId)
            .orderBy('backup_due')
            .orderBy('id')
            .limit(1)
            .executeTakeFirst(),
        );
        if (due === undefined) return undefined;
        const { id: vmId, backup_due: from, backup_schedule: schedule } = due;
        const interval = INTERVALS[schedule ?? ''] ?? RETRY_SECONDS;
        const next = (from ?? instant) + Math.ceil((instant - (from ?? instant) + 1) / interval) * interval;
        // Another instance may have begun it.
        if (await moveDue(runtime, { vmId, from, to: next })) return { vmId, next };
      }
    },
    async perform({ vmId, next }) {
      try {
        await makeRoom(runtime, vmId);
        await runCommand(runtime, createBackup, { runtime, vmId, description: 'Scheduled', isScheduled: true });
      } catch (error) {
        await moveDue(runtime, { vmId, from: next, to: instantNow() + RETRY_SECONDS });
        onFailure({ vmId, error });
      }
    },
    onFailure: (error) => onFailure({ vmId: undefined, error }),
  };
}

function dueAt(db: Db, instant: number) {
  return db.selectFrom('vms').where('backup_due', '<=', instant).where('state', 'in', ['running', 'stopped']);
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
