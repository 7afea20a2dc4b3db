/** The backups of the store, as far as the service knows about them. */
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { hasErrorCode } from '@reseller/contract/is-error';
import { sql } from 'kysely';

import type { QueueFigures } from '../rules/queue-figures.ts';
import type { Store } from './store.ts';

/** A backup is due this long after the last one. */
const INTERVAL_MS = 86_400_000;
const NOTE_FILE = 'last-backup.json';

/** The last backup of an embedded store. */
export interface LastBackup {
  /** Milliseconds. */
  readonly time: number;
  readonly file: string;
  readonly bytes: number;
}

/** Notes a backup that was written and verified in the data directory, where the service finds it. */
export function noteBackup(directory: string, backup: LastBackup): void {
  const unfinished = join(directory, `${NOTE_FILE}.new`);
  writeFileSync(unfinished, JSON.stringify(backup), { mode: 0o600, flush: true });
  renameSync(unfinished, join(directory, NOTE_FILE));
}

/** Undefined if no backup was noted. */
export function lastBackupIn(directory: string): LastBackup | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, NOTE_FILE), 'utf8'));
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * The last work of the archiver of PostgreSQL, in milliseconds. A new server, and one that was killed, does not know it: then the begin of its
 * statistics. Undefined if the database archives nothing, or archives in another way.
 */
export async function archiverOf({ read }: Store): Promise<{ readonly last: number; readonly fails: boolean } | undefined> {
  return read(async (db) => {
    const { rows } = await sql<{ mode: string; last: number; failed: number | null }>`
      select current_setting('archive_mode') as mode,
        extract(epoch from coalesce(last_archived_time, stats_reset, pg_postmaster_start_time()))::float8 as last,
        extract(epoch from last_failed_time)::float8 as failed
      from pg_stat_archiver`.execute(db);
    const [row] = rows;
    if (!row || row.mode === 'off') return undefined;
    return { last: row.last * 1000, fails: (row.failed ?? 0) > row.last };
  });
}

/**
 * Whether a backup is due, and since when.
 *
 * @param directory The data directory of an embedded store. Undefined for PostgreSQL.
 * @returns Undefined if the database archives nothing that the service could know about.
 */
export async function storeBackupFigures(store: Store, directory: string | undefined): Promise<QueueFigures | undefined> {
  const now = Date.now();
  if (directory !== undefined) {
    const last = lastBackupIn(directory)?.time ?? statSync(directory).birthtimeMs;
    return figuresSince(last + INTERVAL_MS, now, false);
  }
  const archiver = await archiverOf(store);
  return archiver && figuresSince(archiver.last + INTERVAL_MS, now, archiver.fails);
}

function figuresSince(due: number, now: number, fails: boolean): QueueFigures {
  const isDue = due <= now;
  return { waiting: isDue ? 1 : 0, failed: fails ? 1 : 0, oldestMs: isDue ? now - due : undefined };
}
