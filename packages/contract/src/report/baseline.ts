import { parse } from 'yaml';

import { isObject } from '../document/json.ts';
import { VERDICTS } from '../judge/finding.ts';
import type { Verdict } from '../judge/finding.ts';
import type { PlacedFinding } from '../source/place-findings.ts';
import type { Report } from './report.ts';

/** A finding that is accepted until a date. */
export interface Acceptance {
  /** Id of the finding. */
  readonly finding: string;
  readonly check: string;
  readonly reason: string;
  readonly owner: string;
  /** Last day on which the acceptance is valid, YYYY-MM-DD. */
  readonly expires: string;
}

/** A finding, and whether it is accepted. */
export interface SettledFinding extends PlacedFinding {
  readonly accepted?: Acceptance | undefined;
  /** An expired acceptance: the finding counts again. */
  readonly expired?: Acceptance | undefined;
}

/** A report whose findings have been placed in the sources and compared with a baseline. */
export interface SettledReport extends Omit<Report, 'findings'> {
  readonly findings: readonly SettledFinding[];
  /** The least severe verdict that makes the run fail. */
  readonly failOn: Verdict;
  /** Acceptances whose finding no longer occurs. */
  readonly fixed: readonly Acceptance[];
}

/** The baseline cannot be used; the message says why. */
export class BaselineError extends Error {
  override readonly name = 'BaselineError';
}

/**
 * Reads a baseline: YAML or JSON with a list `accepted`.
 * @throws {BaselineError} when it is not one
 */
export function readBaseline(text: string): readonly Acceptance[] {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new BaselineError(`The baseline is not YAML: ${error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : ''}`, {
      cause: error,
    });
  }
  const list = isObject(value) ? value['accepted'] : undefined;
  if (!Array.isArray(list)) throw new BaselineError('The baseline has no list "accepted".');
  return list.map((item, index) => {
    const { finding, check, reason, owner, expires } = isObject(item) ? item : {};
    const isWhole = [finding, check, reason, owner, expires].every((field) => typeof field === 'string' && field !== '');
    if (!isWhole || !/^\d{4}-\d{2}-\d{2}$/.test(String(expires)))
      throw new BaselineError(
        `Entry ${index + 1} of the baseline needs finding, check, reason, owner and expires (YYYY-MM-DD), all as text.`,
      );
    return { finding: String(finding), check: String(check), reason: String(reason), owner: String(owner), expires: String(expires) };
  });
}

/** Marks accepted findings. An acceptance whose finding no longer occurs is fixed. */
export function settle(
  report: Report & { readonly findings: readonly PlacedFinding[] },
  accepted: readonly Acceptance[],
  today: string,
  failOn: Verdict = 'violation',
): SettledReport {
  const byId = new Map(accepted.map((one) => [one.finding, one]));
  const found = new Set(report.findings.map(({ id }) => id));
  return {
    ...report,
    failOn,
    findings: report.findings.map((finding) => {
      const acceptance = byId.get(finding.id);
      if (acceptance === undefined) return finding;
      return acceptance.expires < today ? { ...finding, expired: acceptance } : { ...finding, accepted: acceptance };
    }),
    fixed: accepted.filter(({ finding, check }) => !found.has(finding) && wasPerformed(report, check)),
  };
}

/** Whether a check was performed. Otherwise the absence of its finding shows nothing. */
function wasPerformed({ coverage }: Report, check: string): boolean {
  return coverage.some(({ checks }) => checks.some((one) => one.check === check && one.outcome !== 'not-performed'));
}

/** The findings that make a run fail: at least as severe as `failOn`, and not accepted. */
export function failures({ findings, failOn }: SettledReport): readonly SettledFinding[] {
  const failing = new Set(VERDICTS.slice(0, VERDICTS.indexOf(failOn) + 1));
  return findings.filter(({ verdict, accepted }) => failing.has(verdict) && accepted === undefined);
}

/** Whether a run failed, because of its findings or because it did not undo all of its changes. */
export function isFailed(report: SettledReport): boolean {
  const isUnverified = report.failOn === 'unverified' && report.coverage.some(({ verified }) => !verified);
  return failures(report).length > 0 || report.unfinished.length > 0 || isUnverified;
}
