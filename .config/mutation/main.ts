/**
 * Changes the sources of an area one by one with StrykerJS, and lists the changes that no test notices:
 * `npx -y pnpm@12 mutate AREA [FILE...]`. It works on a copy of the repository, so an interruption leaves no changed source behind.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { installTestTools, installTools } from '../test-tools.ts';
import { REPOSITORY, turbo } from '../turbo.ts';
import { areas } from './areas.ts';
import type { Area } from './areas.ts';
import { copyRepository } from './copy.ts';
import { mutantsOf, placesOf, sampleOf } from './sample.ts';

const USAGE = `Usage: npx -y pnpm@12 mutate AREA [FILE...] [--sample NUMBER [--seed NUMBER]] [--concurrency NUMBER]

  AREA           ${Object.keys(areas).join(', ')}
  FILE           changes only sources whose path ends in it, such as money.ts
  --sample       tests only this number of changes and the changes within them, picked at random
  --seed         picks the same changes as an earlier run with this seed
  --concurrency  number of processes that run tests at the same time; 1 by default
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    concurrency: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
const [name = '', ...files] = positionals;
const area = Object.hasOwn(areas, name) ? areas[name] : undefined;
const isValid =
  /^[1-9]\d?$/.test(values.concurrency) &&
  /^\d{1,9}$/.test(values.seed) &&
  (values.sample === undefined || /^[1-9]\d{0,5}$/.test(values.sample));
if (values.help) process.stdout.write(USAGE);
else if (!area || !isValid) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else process.exitCode = await mutate(area, sourcesOf(area, files));

function sourcesOf({ sources }: Area, wanted: readonly string[]): string[] {
  return globSync(sources, { cwd: REPOSITORY }).filter(
    (file) => !file.endsWith('.test.ts') && (wanted.length === 0 || wanted.some((end) => file.endsWith(end))),
  );
}

/** @returns The exit code. */
async function mutate(tested: Area, sources: readonly string[]): Promise<number> {
  if (sources.length === 0) {
    process.stderr.write(`The area ${name} has no source whose path ends in ${files.join(' or ')}.\n`);
    return 2;
  }
  // Tests read the bundles of the documents.
  const built = turbo(['run', 'build', '--filter=!@reseller/docs', '--output-logs=errors-only', '--log-prefix=none'], 'pipe');
  if (built.status !== 0) {
    process.stderr.write(built.output);
    return built.status;
  }
  await installTestTools();
  await installTools(import.meta.dirname, 'StrykerJS');
  const mutated = values.sample === undefined ? sources : await pickedFrom(sources, Number(values.sample));
  const copy = copyRepository(REPOSITORY);
  try {
    writeFileSync(join(copy, 'stryker.config.json'), JSON.stringify(settingsOf(tested, mutated)));
    return await runStryker(copy, {
      MUTATION_TESTS: tested.tests.join('\n'),
      MUTATION_SET_UP: tested.startsService ? '.config/postgres.ts\n.config/run-folder.ts' : '',
    });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function pickedFrom(sources: readonly string[], size: number): Promise<string[]> {
  const all = await mutantsOf(REPOSITORY, sources);
  const sample = sampleOf(all, size, Number(values.seed));
  process.stdout.write(`Testing ${sample.length} of ${all.length} changes, picked with --seed ${values.seed}.\n`);
  return placesOf(sample);
}

/** The settings of StrykerJS. */
function settingsOf({ startsService, threshold }: Area, mutated: readonly string[]): object {
  return {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    inPlace: true,
    // The tests do not check types.
    disableTypeChecks: false,
    // A change of a value that a module computes when it loads would need all tests again, which take minutes.
    ignoreStatic: startsService,
    mutate: mutated,
    vitest: { configFile: '.config/mutation/vitest.config.ts', related: false, pool: 'threads' },
    coverageAnalysis: 'perTest',
    concurrency: Number(values.concurrency),
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false, skipFull: true },
    thresholds: { high: 100, low: threshold, break: threshold },
    // Long, because a slow test on a busy machine must not count as an endless loop.
    timeoutMS: startsService ? 60_000 : 10_000,
    timeoutFactor: 3,
    dryRunTimeoutMinutes: 60,
    tempDirName: '.stryker-tmp',
  };
}

/** @returns The exit code. StrykerJS and the processes that it starts are one process group, which ends with it. */
async function runStryker(copy: string, environment: Readonly<Record<string, string>>): Promise<number> {
  const program = join(import.meta.dirname, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  const stryker = spawn(process.execPath, [program, 'run', 'stryker.config.json'], {
    cwd: copy,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stryker.kill(signal));
  const [code] = await once(stryker, 'exit');
  try {
    // An interrupted StrykerJS leaves processes running, such as a test in an endless loop.
    if (stryker.pid !== undefined) process.kill(-stryker.pid, 'SIGKILL');
  } catch {
    // No process is left, or the system has no process groups.
  }
  return typeof code === 'number' ? code : 130;
}
