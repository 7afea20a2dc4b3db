/**
 * A folder that all test processes of a run share. It is in memory if possible, because most tests do not depend on the disk, and waiting for
 * the disk takes most of the time of a test that opens a store. Its folder `tmp` is the temporary folder of the tests and of their processes.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

import { memoryFolder, runsPrograms } from './memory-folder.ts';

export function setup(project: TestProject): () => void {
  const disk = tmpdir();
  const memory = memoryFolder();
  const folder = mkdtempSync(join(memory !== undefined && runsPrograms(memory) ? memory : disk, 'test-run-'));
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
