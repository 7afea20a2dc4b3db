import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

import { CHECKS, startChecks } from './checks.ts';
import type { Checks } from './checks.ts';
import { deepTag } from './depth.ts';
import { outerTag } from './rings.ts';
import type { Ring } from './rings.ts';
import { statusCoverage } from './status-coverage.ts';
import { isWholeRun } from './whole-run.ts';

/**
 * Ends a run with the plain line `N passed, N failed`, after the reasons for which tests were skipped and the number of tests that other rings
 * have. A failed check counts as a failure. So does a response that the documents describe and no test of the whole run covered.
 */
export function closingLine({ reports }: { readonly reports?: string | undefined } = {}): Reporter {
  const coverage = statusCoverage(reports);
  let vitest: Vitest | undefined;
  let checks: Checks | undefined;
  return {
    onInit(context) {
      vitest = context;
      context.provide('seenStatuses', coverage.file);
      if (process.env[CHECKS] !== undefined) checks = startChecks();
    },
    async onTestRunEnd(modules, errors) {
      const counts = countsOf(modules);
      const isWhole = vitest !== undefined && (await isWholeRun(vitest, modules));
      const exercised = coverage.conclude(isWhole);
      const wrong = await checks?.conclude();
      const isIncomplete = exercised !== undefined && exercised.missing.length > 0;
      if (isIncomplete || wrong !== undefined) process.exitCode = 1;
      const failures = counts.failed + errors.length + (isIncomplete ? 1 : 0) + (wrong === undefined ? 0 : 1);
      process.stdout.write(
        [
          ...skipLines(counts.skipped),
          ...leftOutLines(counts.leftOut),
          ...(exercised === undefined ? [] : [exercised.line]),
          ...(wrong === undefined ? [] : [`The checks failed:\n${wrong}`]),
          '',
          closingText(counts, failures),
        ]
          .map((line) => `${line}\n`)
          .join(''),
      );
    },
  };
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly Skipped[];
  /** The tests that another ring runs, by that ring. */
  readonly leftOut: ReadonlyMap<Ring, number>;
}

interface Skipped {
  readonly name: string;
  readonly reason: string;
}

function countsOf(modules: readonly TestModule[]): Counts {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const byRing = Map.groupBy(tests, ringOfLeftOut);
  const results = (byRing.get(undefined) ?? []).map((test) => ({ name: test.fullName, result: test.result() }));
  // A file that cannot be loaded, or whose set-up fails, counts as a failure, although none of its tests failed.
  const broken = modules.filter((module) => module.errors().length > 0);
  const isRun = new Set(['passed', 'failed']);
  return {
    passed: results.filter(({ result }) => result.state === 'passed').length,
    failed: results.filter(({ result }) => result.state === 'failed').length + broken.length,
    skipped: results
      .filter(({ result }) => !isRun.has(result.state))
      .map(({ name, result }) => ({ name, reason: ('note' in result && result.note) || 'no reason given' })),
    leftOut: new Map([...byRing].flatMap(([other, left]) => (other === undefined ? [] : [[other, left.length] as const]))),
  };
}

/** The ring that runs a test which this ring leaves out. */
function ringOfLeftOut({ options }: TestCase): Ring | undefined {
  const left = [deepTag, outerTag].find(({ name, skip }) => skip && options.tags?.includes(name) === true);
  if (left === undefined) return undefined;
  return left === deepTag ? 'deep' : 'all';
}

/** Programs whose Debian package has another name. */
const PACKAGES: Readonly<Record<string, string>> = {
  dig: 'bind9-dnsutils',
  go: 'golang-go',
  gofmt: 'golang-go',
  knotd: 'knot',
  PowerDNS: 'pdns-server pdns-backend-sqlite3 sqlite3',
  php: 'php-cli php-curl',
  'systemd-analyze': 'systemd',
};
const NOT_INSTALLED = /^(.+?)(?: with \w+)? (?:is|are) not installed/;

/** One line for all programs that this machine lacks, and one for each other reason, because one reason can leave out many tests. */
function skipLines(skipped: readonly Skipped[]): string[] {
  const { absent = [], other = [] } = Object.groupBy(skipped, ({ reason }) => (NOT_INSTALLED.test(reason) ? 'absent' : 'other'));
  const programs = [...new Set(absent.flatMap(({ reason }) => NOT_INSTALLED.exec(reason)?.[1]?.split(' and ') ?? []))].toSorted();
  const packages = [...new Set(programs.map((program) => PACKAGES[program] ?? program))].join(' ');
  const others = [...Map.groupBy(other, ({ reason }) => reason)].map(([reason, tests]) => {
    const [{ name } = { name: '' }] = tests;
    return tests.length === 1 ? `skipped: ${name}: ${reason}` : `skipped: ${tests.length} tests, such as "${name}": ${reason}`;
  });
  if (absent.length === 0) return others;
  const tests = absent.length === 1 ? '1 test' : `${absent.length} tests`;
  return [...others, `skipped: ${tests}, which need ${programs.join(', ')}. On Debian, install them with: apt-get install -y ${packages}`];
}

function leftOutLines(leftOut: Counts['leftOut']): string[] {
  return [...leftOut].map(([other, count]) => `Tests left out, which npx -y pnpm@12 test:${other} runs: ${count}`);
}

function closingText({ passed, skipped }: Counts, failures: number): string {
  return `${passed} passed, ${failures} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;
}
