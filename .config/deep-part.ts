/**
 * Runs one sixth of the files in which `test:deep` does more than `test:all`, such as `deep-part.ts 3`. Without a number, the part follows from
 * the number of commits, so six commits run them all. A file with a failure runs once more, alone. If it passes then, it failed next to others:
 * the test depends on the speed of the machine, and is the next one to repair.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

import { RING } from './rings.ts';
import { deepFiles } from './test-files.ts';
import { REPOSITORY, turbo } from './turbo.ts';

const PARTS = 6;
const VITEST = join(REPOSITORY, 'node_modules/vitest/vitest.mjs');
const CONFIGURATION = join(import.meta.dirname, 'vitest.config.ts');

interface Run {
  /** The exit code of Vitest. */
  readonly status: number;
  readonly passed: number;
  readonly failed: number;
  /** The files with a failure, relative to the repository. */
  readonly files: readonly string[];
}

const part = chosenPart();
process.stdout.write(`Part ${part} of ${PARTS} of what test:deep adds to test:all.\n`);
// Outer tests read the documentation site and the console.
if (turbo(['run', 'build', '--output-logs=errors-only'], 'inherit').status !== 0) process.exit(1);
const together = runTests([`--shard=${part}/${PARTS}`, ...deepFiles()]);
// One after another, so that nothing runs next to them.
const alone = together.files.map((file) => ({ file, ...runTests([file]) }));
for (const { file, files } of alone) if (files.length === 0) process.stdout.write(`failed next to others: ${file}\n`);
// An error outside of all tests belongs to no file that could run again.
const outside = together.status !== 0 && together.files.length === 0 ? 1 : 0;
const failed = outside + alone.reduce((sum, again) => sum + again.failed, 0);
process.exitCode = failed === 0 ? 0 : 1;
process.stdout.write(`${together.passed + together.failed + outside - failed} passed, ${failed} failed\n`);

function chosenPart(): number {
  const [given] = process.argv.slice(2);
  if (given === undefined)
    return (Number(execFileSync('git', ['rev-list', '--count', 'HEAD'], { cwd: REPOSITORY, encoding: 'utf8' })) % PARTS) + 1;
  const wanted = Number(given);
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= PARTS) return wanted;
  process.stderr.write(`The part must be a whole number from 1 to ${PARTS}, got "${given}".\n`);
  process.exit(2);
}

function runTests(given: readonly string[]): Run {
  const folder = mkdtempSync(join(tmpdir(), 'deep-part-'));
  const report = join(folder, 'report.json');
  try {
    const { status } = spawnSync(
      process.execPath,
      [VITEST, 'run', '--config', CONFIGURATION, ...given, '--reporter=default', '--reporter=json', `--outputFile=${report}`],
      { stdio: 'inherit', env: { ...process.env, [RING]: 'deep' } },
    );
    return { status: status ?? 1, ...readReport(report) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readReport(report: string): Omit<Run, 'status'> {
  const { testResults }: { testResults: { name: string; status: string; assertionResults: { status: string }[] }[] } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  const results = testResults.flatMap(({ status, assertionResults }) =>
    // A file that could not be loaded has no tests.
    status === 'failed' && assertionResults.length === 0 ? ['failed'] : assertionResults.map((result) => result.status),
  );
  return {
    passed: results.filter((status) => status === 'passed').length,
    failed: results.filter((status) => status === 'failed').length,
    files: testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(REPOSITORY, name)),
  };
}
