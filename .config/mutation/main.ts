/**
 * Changes the sources of an area one by one with StrykerJS, and lists the changes that no test notices:
 * `npx -y pnpm@12 mutate AREA [FILE...]`. It works on a copy of the repository, so an interruption leaves no changed source behind.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

import { installTestTools, installTools } from '../test-tools.ts';
import { REPOSITORY, turbo } from '../turbo.ts';
import { areas } from './areas.ts';
import type { Area } from './areas.ts';
import { copyRepository } from './copy.ts';
import { equivalents } from './equivalents.ts';
import { keyOf, linesOf, mutantsOf, sampleOf } from './mutants.ts';
import { percentage, scoreOf, scoresOf, textOf } from './report.ts';
import type { Result } from './report.ts';
import { RESULTS_FILE, SAMPLE_FILE } from './stryker-plugins.ts';

const USAGE = `Usage: npx -y pnpm@12 mutate AREA [FILE...] [--sample NUMBER [--seed NUMBER]] [--concurrency NUMBER] [--incremental]

  AREA           ${Object.keys(areas).join(', ')}
  FILE           changes only sources whose path ends in it, such as money.ts
  --sample       tests only this number of changes, picked at random
  --seed         picks the same changes as an earlier run with this seed
  --concurrency  number of processes that run tests at the same time; 1 by default
  --incremental  runs only tests that could have another result than in the previous run, as far as tests and changed sources tell;
                 not with --sample

An interrupted run reports the changes that it has tested.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    concurrency: { type: 'string', default: '1' },
    incremental: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [name = '', ...files] = positionals;
const area = Object.hasOwn(areas, name) ? areas[name] : undefined;
const isValid =
  /^[1-9]\d?$/.test(values.concurrency) &&
  /^\d{1,9}$/.test(values.seed) &&
  (values.sample === undefined || (/^[1-9]\d{0,5}$/.test(values.sample) && !values.incremental));
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
async function mutate({ tests, startsService, threshold }: Area, sources: readonly string[]): Promise<number> {
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
  const all = await mutantsOf(REPOSITORY, sources);
  const sample = values.sample === undefined ? undefined : sampleOf(all, Number(values.sample), Number(values.seed));
  if (sample) process.stdout.write(`Testing ${sample.length} of ${all.length} changes, picked with --seed ${values.seed}.\n`);
  // They may be edited during the run.
  const texts = new Map(sources.map((file) => [file, readFileSync(join(REPOSITORY, file), 'utf8')]));
  const copy = copyRepository(REPOSITORY);
  // The results of the previous run outlive the copy.
  const incrementalFile = join(REPOSITORY, 'node_modules/.cache/mutation', `${name}.json`);
  mkdirSync(dirname(incrementalFile), { recursive: true });
  try {
    const mutated = sample ? linesOf(sample) : sources;
    writeFileSync(
      join(copy, 'stryker.config.json'),
      JSON.stringify(settingsOf({ mutated, isSample: sample !== undefined, startsService, incrementalFile })),
    );
    writeFileSync(join(copy, SAMPLE_FILE), JSON.stringify(sample?.map(keyOf) ?? []));
    const ended = await runStryker(copy, {
      MUTATION_TESTS: tests.join('\n'),
      MUTATION_SET_UP: startsService ? '.config/postgres.ts\n.config/run-folder.ts' : '',
    });
    const results = existsSync(join(copy, RESULTS_FILE)) ? resultsOf(readFileSync(join(copy, RESULTS_FILE), 'utf8')) : [];
    const scores = scoresOf(results, (file) => texts.get(file) ?? '', equivalents);
    if (scores.length === 0) return ended || 1;
    const { value, noticed, tested, interval } = scoreOf(scores);
    const [low, high] = interval.map(percentage);
    process.stdout.write(
      `\n${textOf(scores)}\n\n${name}: ${percentage(value)} (${noticed} of ${tested} tested changes), and at least ${percentage(threshold)} is expected.\n` +
        (sample && ended === 0
          ? `Of all ${all.length} changes, ${low} to ${high} are noticed (95 % interval of a sample with --seed ${values.seed}).\n`
          : '') +
        (ended === 0
          ? ''
          : 'The run ended before all changes were tested. It tests file by file, so what it tested is not a random sample.\n'),
    );
    return ended || (value < threshold ? 1 : 0);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

interface Run {
  /** Files, or their lines. */
  readonly mutated: readonly string[];
  readonly isSample: boolean;
  readonly startsService: boolean;
  readonly incrementalFile: string;
}

/** The settings of StrykerJS. */
function settingsOf({ mutated, isSample, startsService, incrementalFile }: Run): object {
  return {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner', './.config/mutation/stryker-plugins.ts'],
    inPlace: true,
    // The tests do not check types.
    disableTypeChecks: false,
    // A change of a value that a module computes when it loads would need all tests again, which take minutes.
    ignoreStatic: startsService,
    mutate: mutated,
    checkers: isSample ? ['sample'] : [],
    vitest: { configFile: '.config/mutation/vitest.config.ts', related: false, pool: 'threads' },
    coverageAnalysis: 'perTest',
    concurrency: Number(values.concurrency),
    incremental: values.incremental,
    incrementalFile,
    reporters: ['results', 'progress-append-only'],
    // Long, because a slow test on a busy machine must not count as an endless loop.
    timeoutMS: startsService ? 60_000 : 10_000,
    timeoutFactor: 3,
    dryRunTimeoutMinutes: 60,
    tempDirName: '.stryker-tmp',
  };
}

function resultsOf(lines: string): Result[] {
  return lines
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
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
  endGroup(stryker);
  return typeof code === 'number' ? code : 130;
}

/** Ends the processes that an interrupted StrykerJS leaves running, such as a test in an endless loop. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // No process is left, or the system has no process groups.
  }
}
