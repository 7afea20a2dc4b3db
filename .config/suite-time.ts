import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, relative, sep } from 'node:path';

import type { Reporter, TestModule, Vitest } from 'vitest/node';

import { isDeep } from './depth.ts';
import { packageOf } from './ratchet/package-of.ts';
import { isWholeRun } from './whole-run.ts';

const RECORDED = join(import.meta.dirname, 'ratchet/suite-time.json');
/** The name of the row with the total. */
const WHOLE = 'from start to end';

/** The duration of a usual run of all tests, in seconds. */
interface SuiteTime {
  /** The machine and the day of the run. */
  readonly run: string;
  /** From the start of the run to its end. */
  readonly total: number;
  /** The sum over the files of each package. Several files run at the same time. */
  readonly packages: Readonly<Record<string, number>>;
}

/**
 * Prints how long the tests of each package took, next to the recorded run, if all tests ran. It judges nothing, because a busy machine is slow.
 * `SUITE_TIME=record` in the environment records the run instead.
 */
export function suiteTime(file = RECORDED): Reporter {
  let vitest: Vitest | undefined;
  let started = 0;
  return {
    onInit(context) {
      vitest = context;
      started = performance.now();
    },
    async onTestRunEnd(modules) {
      if (!vitest || isDeep || !(await isWholeRun(vitest, modules))) return;
      const { root } = vitest.config;
      const packages: Record<string, number> = {};
      for (const module of modules) {
        const name = packageOf(relative(root, module.moduleId).replaceAll(sep, '/'));
        packages[name] = (packages[name] ?? 0) + secondsOf(module);
      }
      const total = (performance.now() - started) / 1000;
      if (process.env['SUITE_TIME'] === 'record') return record(file, total, packages);
      process.stdout.write(tableOf({ total, packages }, JSON.parse(readFileSync(file, 'utf8'))));
    },
  };
}

function secondsOf(module: TestModule): number {
  const { collectDuration, duration, setupDuration } = module.diagnostic();
  return (collectDuration + duration + setupDuration) / 1000;
}

function record(file: string, total: number, packages: SuiteTime['packages']): void {
  const run = `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}, ${new Date().toISOString().slice(0, 10)}`;
  const rounded = Object.entries(packages)
    .map(([name, seconds]): [string, number] => [name, Math.round(seconds)])
    .toSorted(([, one], [, other]) => other - one);
  writeFileSync(file, `${JSON.stringify({ run, total: Math.round(total), packages: Object.fromEntries(rounded) }, null, 2)}\n`);
}

function tableOf(now: Omit<SuiteTime, 'run'>, recorded: SuiteTime): string {
  const before: Readonly<Record<string, number>> = { ...recorded.packages, [WHOLE]: recorded.total };
  const rows = Object.entries(now.packages).toSorted(([, one], [, other]) => other - one);
  const lines = [...rows, [WHOLE, now.total] as const].map(
    ([name, seconds]) => `${seconds.toFixed(0).padStart(7)} ${String(before[name] ?? '-').padStart(9)}  ${name}\n`,
  );
  return `\nSeconds of the tests, and of a recorded run (${recorded.run}):\n${lines.join('')}\n`;
}
