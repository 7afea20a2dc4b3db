import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

import { deepTag, isDeep } from './depth.ts';
import { statusCoverage } from './status-coverage.ts';
import { isWholeRun } from './whole-run.ts';

/**
 * Ends a run with the plain line `N passed, N failed`, after the reason of each skipped test and the number of tests that only a deep run has.
 * A run of all tests fails if it did not cover a response that the documents describe, and counts this as a failure.
 */
export function closingLine({ reports }: { readonly reports?: string | undefined } = {}): Reporter {
  const coverage = statusCoverage(reports);
  let vitest: Vitest | undefined;
  return {
    onInit(context) {
      vitest = context;
      context.provide('seenStatuses', coverage.file);
    },
    async onTestRunEnd(modules, errors) {
      const { passed, failed, skipped, leftOut } = countsOf(modules);
      const isWhole = vitest !== undefined && (await isWholeRun(vitest, modules));
      const exercised = coverage.conclude(isWhole);
      const isIncomplete = exercised !== undefined && exercised.missing.length > 0;
      if (isIncomplete) process.exitCode = 1;
      const lines = skipped.map(({ name, reason }) => `skipped: ${name}: ${reason}`);
      if (leftOut > 0) lines.push(`Tests left out, which npx -y pnpm@12 test:deep runs: ${leftOut}`);
      if (exercised !== undefined) lines.push(exercised.line);
      const failures = failed + errors.length + (isIncomplete ? 1 : 0);
      const closing = `${passed} passed, ${failures} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;
      process.stdout.write(`${lines.map((line) => `${line}\n`).join('')}\n${closing}\n`);
    },
  };
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** The number of tests with the tag `deep` in a run that is not deep. */
  readonly leftOut: number;
}

function countsOf(modules: readonly TestModule[]): Counts {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const results = tests.filter((test) => !isLeftOut(test)).map((test) => ({ name: test.fullName, result: test.result() }));
  // A file that cannot be loaded counts as a failure, although it has no tests.
  const unloaded = modules.filter((module) => module.children.allTests().next().done === true && module.errors().length > 0);
  const isRun = new Set(['passed', 'failed']);
  return {
    passed: results.filter(({ result }) => result.state === 'passed').length,
    failed: results.filter(({ result }) => result.state === 'failed').length + unloaded.length,
    skipped: results
      .filter(({ result }) => !isRun.has(result.state))
      .map(({ name, result }) => ({ name, reason: ('note' in result && result.note) || 'no reason given' })),
    leftOut: tests.length - results.length,
  };
}

function isLeftOut({ options }: TestCase): boolean {
  return !isDeep && options.tags?.includes(deepTag.name) === true;
}
