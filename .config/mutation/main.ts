/**
 * Changes the sources of an area one by one with StrykerJS, and lists the changes that no test notices:
 * `npx pnpm@12 mutate AREA [FILE...]`. It works on a copy of the repository, so an interruption leaves no changed source behind.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

import { installTools } from '../test-tools.ts';
import { REPOSITORY, turbo } from '../turbo.ts';
import { areas } from './areas.ts';
import type { Area } from './areas.ts';
import { copyRepository } from './copy.ts';
import { equivalents } from './equivalents.ts';
import { percentage, scoreOf, scoresOf, textOf } from './report.ts';
import type { MutationReport } from './report.ts';

const USAGE = `Usage: npx pnpm@12 mutate AREA [FILE...] [--concurrency NUMBER] [--incremental]

  AREA           ${Object.keys(areas).join(', ')}
  FILE           changes only sources whose path ends in it, such as money.ts
  --concurrency  number of processes that run tests at the same time; 1 by default
  --incremental  runs only tests that could have another result than in the previous run, as far as tests and changed sources tell
`;

const REPORT = 'mutation-report.json';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { concurrency: { type: 'string', default: '1' }, incremental: { type: 'boolean', default: false } },
});
const [name = '', ...files] = positionals;
const area = Object.hasOwn(areas, name) ? areas[name] : undefined;
if (!area || !/^[1-9]\d?$/.test(values.concurrency)) {
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
  installTools(import.meta.dirname);
  const copy = copyRepository(REPOSITORY);
  // The results of the previous run outlive the copy.
  const incrementalFile = join(REPOSITORY, 'node_modules/.cache/mutation', `${name}.json`);
  mkdirSync(dirname(incrementalFile), { recursive: true });
  try {
    writeFileSync(
      join(copy, 'stryker.config.json'),
      JSON.stringify({
        testRunner: 'vitest',
        plugins: ['@stryker-mutator/vitest-runner'],
        inPlace: true,
        mutate: sources,
        vitest: { configFile: '.config/mutation/vitest.config.ts', related: false, pool: 'threads' },
        coverageAnalysis: 'perTest',
        concurrency: Number(values.concurrency),
        incremental: values.incremental,
        incrementalFile,
        reporters: ['json', 'progress-append-only'],
        jsonReporter: { fileName: REPORT },
        timeoutMS: startsService ? 30_000 : 10_000,
        dryRunTimeoutMinutes: 15,
        tempDirName: '.stryker-tmp',
      }),
    );
    const ended = await runStryker(copy, {
      MUTATION_TESTS: tests.join('\n'),
      MUTATION_SET_UP: startsService ? '.config/postgres.ts\n.config/run-folder.ts' : '',
    });
    if (ended !== 0 || !existsSync(join(copy, REPORT))) return ended || 1;
    const report: MutationReport = JSON.parse(readFileSync(join(copy, REPORT), 'utf8'));
    const scores = scoresOf(report, equivalents);
    const score = scoreOf(scores);
    process.stdout.write(`\n${textOf(scores)}\n\n${name}: ${percentage(score)}, and at least ${percentage(threshold)} is expected.\n`);
    return score < threshold ? 1 : 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** @returns The exit code. An interruption ends StrykerJS first, so that it stops its processes. */
async function runStryker(copy: string, environment: Readonly<Record<string, string>>): Promise<number> {
  const program = join(import.meta.dirname, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  const stryker = spawn(process.execPath, [program, 'run', 'stryker.config.json'], {
    cwd: copy,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stryker.kill(signal));
  const [code] = await once(stryker, 'exit');
  return typeof code === 'number' ? code : 130;
}
