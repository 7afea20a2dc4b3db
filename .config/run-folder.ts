/**
 * A folder that all test processes of a run share. It is in memory if possible, because most tests do not depend on the disk, and waiting for
 * the disk takes most of the time of a test that opens a store. Its folder `tmp` is the temporary folder of the tests and of their processes.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Containers often have only 64 MiB, which a run would fill. */
const MIN_FREE_BYTES = 2 * 1024 ** 3;

export function setup(project: TestProject): () => void {
  const disk = tmpdir();
  const folder = mkdtempSync(join(hasRoom(MEMORY) && runsPrograms(MEMORY) ? MEMORY : disk, 'test-run-'));
  const temporary = join(folder, 'tmp');
  function remove(): void {
    return rmSync(folder, { recursive: true, force: true });
  }
  mkdirSync(temporary);
  // The workers inherit it.
  process.env['TMPDIR'] = temporary;
  project.provide('runFolder', folder);
  project.provide('diskFolder', disk);
  // In watch mode, the code has changed since the previous run prepared its stores.
  project.onTestsRerun(() => {
    remove();
    mkdirSync(temporary, { recursive: true });
  });
  return remove;
}

function hasRoom(path: string): boolean {
  if (!existsSync(path)) return false;
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize >= MIN_FREE_BYTES;
}

/** Containers often mount it so that no program in it can be run. */
function runsPrograms(path: string): boolean {
  const folder = mkdtempSync(join(path, 'test-program-'));
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  const { status } = spawnSync(program);
  rmSync(folder, { recursive: true });
  return status === 0;
}
