/** A folder that all test processes of a run share. It is in memory if possible, because most tests do not depend on the disk. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Containers often have only 64 MiB, which a run would fill. */
const MIN_FREE_BYTES = 2 * 1024 ** 3;

export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), 'test-run-'));
  function remove(): void {
    return rmSync(folder, { recursive: true, force: true });
  }
  project.provide('runFolder', folder);
  // In watch mode, the code has changed since the previous run prepared its stores.
  project.onTestsRerun(() => {
    remove();
    mkdirSync(folder);
  });
  return remove;
}

function hasRoom(path: string): boolean {
  if (!existsSync(path)) return false;
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize >= MIN_FREE_BYTES;
}
