/** A folder in memory, for files that a test run writes and does not keep. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Containers often have only 64 MiB, which a run would fill. */
const MIN_FREE_BYTES = 2 * 1024 ** 3;

/** A folder in memory that has room for a test run, if there is one. */
export function memoryFolder(): string | undefined {
  if (!existsSync(MEMORY)) return undefined;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MIN_FREE_BYTES ? MEMORY : undefined;
}

/** Containers often mount folders in memory without the permission to run programs in them. */
export function runsPrograms(path: string): boolean {
  const folder = mkdtempSync(join(path, 'test-program-'));
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  const { status } = spawnSync(program);
  rmSync(folder, { recursive: true });
  return status === 0;
}
