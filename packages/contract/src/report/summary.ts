import { VERDICTS } from '../judge/finding.ts';
import type { Verdict } from '../judge/finding.ts';
import { isFailed } from './baseline.ts';
import type { SettledReport } from './baseline.ts';

/** The figures at the beginning of every report. */
export interface Summary {
  readonly verdict: 'passed' | 'failed';
  readonly counts: Readonly<Record<Verdict, number>>;
  readonly accepted: number;
  readonly fixed: number;
  readonly operations: { readonly verified: number; readonly all: number };
  readonly statuses: { readonly seen: number; readonly all: number };
  readonly fields: { readonly seen: number; readonly all: number };
  readonly requests: number;
}

export function summarise(report: SettledReport): Summary {
  const { coverage, findings } = report;
  const open = findings.filter(({ accepted }) => accepted === undefined);
  function count(verdict: Verdict): number {
    return open.filter((finding) => finding.verdict === verdict).length;
  }
  const [violation, discovered, learned, unverified] = [count('violation'), count('discovered'), count('learned'), count('unverified')];
  const statuses = coverage.flatMap((row) => row.statuses.filter(({ described }) => described));
  return {
    verdict: isFailed(report) ? 'failed' : 'passed',
    counts: { violation, learned, discovered, unverified },
    accepted: findings.length - open.length,
    fixed: report.fixed.length,
    operations: { verified: coverage.filter(({ verified }) => verified).length, all: coverage.length },
    statuses: { seen: statuses.filter(({ times }) => times > 0).length, all: statuses.length },
    fields: { seen: sum(coverage.map(({ fields }) => fields.seen)), all: sum(coverage.map(({ fields }) => fields.all)) },
    requests: report.traffic.length,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The summary as one line. It counts operations without a described success and unverified findings as unverified. */
export function summaryLine(report: SettledReport): string {
  const { counts, operations, requests, accepted, fixed } = summarise(report);
  const verdicts = VERDICTS.filter((verdict) => verdict !== 'unverified').map((verdict) => `${counts[verdict]} ${verdict}`);
  const settled = [accepted > 0 ? `${accepted} accepted` : '', fixed > 0 ? `${fixed} fixed` : ''].filter((text) => text !== '');
  const unverified = [of(operations.all - operations.verified, 'operation'), of(counts.unverified, 'other part')].filter(
    (text) => text !== '',
  );
  return [
    `${requests} responses judged`,
    `${operations.verified} of ${operations.all} operations verified`,
    [...verdicts, ...settled].join(', '),
    ...(unverified.length === 0 ? [] : [`unverified: ${unverified.join(' and ')}`]),
  ].join('; ');
}

/** The number and the noun. Empty for none. */
function of(count: number, noun: string): string {
  return count === 0 ? '' : `${count} ${noun}${count === 1 ? '' : 's'}`;
}
