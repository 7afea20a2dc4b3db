/** Backups that the service makes by itself, at the times that an account has chosen. */
import { sql } from 'kysely';

import type { WorkKind } from '../../delivery/background-work.ts';
import { runCommand } from '../../delivery/command.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import type { Steps } from '../../delivery/steps.ts';
import type { Db } from '../../store/store.ts';
import { assertSlotForSchedule, createBackup, INTERVALS } from './backups.ts';
import type { Backup } from './backups.ts';

/** A scheduled backup that was not made. */
export interface FailedBackup {
  /** Undefined if the due backups could not be read. */
  readonly vmId: number | undefined;
  readonly error: unknown;
}

const RETRY_SECONDS = 3_600;

/**
 * Sets or ends the schedule of a VM. The first backup is due after one interval.
 *
 * @param now Milliseconds.
 * @throws Refusal 409 if no slot can become free for it.
 */
export async function setSchedule(db: Db, vmId: number, schedule: string | null, now: number): Promise<void> {
  const interval = schedule === null ? undefined : INTERVALS[schedule];
  if (interval !== undefined) await assertSlotForSchedule(db, vmId);
  const due = interval === undefined ? null : Math.floor(now / 1000) + interval;
  await db
    .updateTable('vms')
    .set({ backup_schedule: schedule, backup_due: due, backup_anchor: due, backup_failing: 0 })
    .where('id', '=', vmId)
    .execute();
}

/**
 * Makes the backups that are due. A VM whose slots are full loses its oldest scheduled backup once the new one exists. A backup that fails is due
 * again after an hour.
 *
 * @returns The VMs whose backups are made.
 */
export function backupWork(runtime: Runtime, onFailure: (failed: FailedBackup) => void): WorkKind<number> {
  const { store, ports } = runtime;
  function instantNow() {
    return Math.floor(ports.clock.now() / 1000);
  }
  return {
    places: store.tuning.scheduledBackups,
    due: (db) => dueBackups(db, instantNow()).select('id'),
    async accounts() {
      const rows = await store.read((db) =>
        dueBackups(db, instantNow())
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
      // The task of a backup goes on after its call.
      if ((await store.read(countInProgress)) >= store.tuning.scheduledBackups) return undefined;
      for (;;) {
        const due = await store.read((db) =>
          dueBackups(db, instant)
            .select(['id', 'backup_due', 'backup_anchor'])
            .where('account_id', '=', accountId)
            .orderBy('backup_due')
            .orderBy('id')
            .limit(1)
            .executeTakeFirst(),
        );
        if (due === undefined) return undefined;
        const { id: vmId, backup_due: from, backup_anchor } = due;
        // Its success moves it to the next regular time. Another instance may have begun it.
        if (await moveDue(runtime, { vmId, from, to: instant + RETRY_SECONDS, anchor: backup_anchor ?? from })) return vmId;
      }
    },
    async perform(vmId) {
      try {
        await runCommand(runtime, (steps: Steps<Backup>) =>
          createBackup(steps, { runtime, vmId, description: 'Scheduled', isScheduled: true }),
        );
      } catch (error) {
        onFailure({ vmId, error });
      }
    },
    onFailure: (error) => onFailure({ vmId: undefined, error }),
  };
}

async function countInProgress(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('vm_backups')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', '=', sql.lit('creating' as const))
    .where('is_scheduled', '=', 1)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export function dueBackups(db: Db, instant: number) {
  return scheduledBackups(db).where('backup_due', '<=', instant);
}

/** When the next scheduled backup is due, in seconds. Infinity if none is. */
export async function nextBackup(db: Db): Promise<number> {
  const { next } = await scheduledBackups(db)
    .select(({ fn }) => fn.min<number | null>('backup_due').as('next'))
    .executeTakeFirstOrThrow();
  return next ?? Infinity;
}

function scheduledBackups(db: Db) {
  return db.selectFrom('vms').where('state', 'in', ['running', 'stopped']);
}

interface MovedBackup {
  readonly vmId: number;
  readonly from: number | null;
  readonly to: number;
  readonly anchor: number | null;
}

async function moveDue({ store }: Runtime, { vmId, from, to, anchor }: MovedBackup): Promise<boolean> {
  const { numUpdatedRows } = await store.commit(({ db }) =>
    db
      .updateTable('vms')
      .set({ backup_due: to, backup_anchor: anchor })
      .where('id', '=', vmId)
      .where('backup_due', '=', from)
      .executeTakeFirst(),
  );
  return numUpdatedRows > 0n;
}
