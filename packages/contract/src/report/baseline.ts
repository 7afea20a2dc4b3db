import { parse } from 'yaml';

import { isObject } from '../document/json.ts';
import { isError } from '../is-error.ts';
import type { Coverage } from '../judge/coverage.ts';
import { VERDICTS } from '../judge/finding.ts';
import type { Verdict } from '../judge/finding.ts';
import type { PlacedFinding } from '../source/place-findings.ts';
import type { Report } from './report.ts';

/** A finding that is accepted until a date. */
export interface Acceptance {
  /** Id of the finding. */
  readonly finding: string;
  readonly check: string;
  /** The operations for which it is accepted, or `all`. On another operation the finding counts. */
  readonly operations: readonly string[] | 'all';
  readonly reason: string;
  readonly owner: string;
  /** Last day on which the acceptance is valid, YYYY-MM-DD. */
  readonly expires: string;
}

/** A finding, and whether it is accepted. */
export interface SettledFinding extends PlacedFinding {
  readonly accepted?: Acceptance | undefined;
  /** Operations that it also concerns, and for which it is accepted. */
  readonly acceptedOn?: readonly string[];
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
    throw new BaselineError(`The baseline is not YAML: ${isError(error) ? (error.message.split('\n', 1)[0] ?? '') : ''}`, {
      cause: error,
    });
  }
  const list = isObject(value) ? value['accepted'] : undefined;
  if (!Array.isArray(list)) throw new BaselineError('The baseline has no list "accepted".');
  return list.map((item, index) => {
    const { finding, check, operations, reason, owner, expires } = isObject(item) ? item : {};
    const isWhole = [finding, check, reason, owner, expires].every((field) => typeof field === 'string' && field !== '');
    const isNamed = operations === 'all' || isNames(operations);
    if (!isWhole || !isNamed || !/^\d{4}-\d{2}-\d{2}$/.test(String(expires)))
      throw new BaselineError(
        `Entry ${index + 1} of the baseline needs finding, check, reason, owner and expires (YYYY-MM-DD) as text, and operations: a list of operations, or all.`,
      );
    return {
      finding: String(finding),
      check: String(check),
      operations,
      reason: String(reason),
      owner: String(owner),
      expires: String(expires),
    };
  });
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string' && name !== '');
}

/** Marks accepted findings. An acceptance whose finding no longer occurs is fixed. */
export function settle(
  report: Report & { readonly findings: readonly PlacedFinding[] },
  accepted: readonly Acceptance[],
  today: string,
  failOn: Verdict = 'violation',
): SettledReport {
  const byId = new Map(accepted.map((one) => [one.finding, one]));
  const findings = report.findings.map((finding): SettledFinding => {
    const acceptance = byId.get(finding.id);
    if (acceptance === undefined) return finding;
    if (acceptance.expires < today) return { ...finding, expired: acceptance };
    const open = operationsBeyond(finding, acceptance);
    return open.size === 0 ? { ...finding, accepted: acceptance } : narrowed(finding, open);
  });
  const found = new Set(report.findings.map(({ id }) => id));
  return {
    ...report,
    failOn,
    findings,
    coverage: report.coverage.map((row) => ({ ...row, verdict: verdictWith(findings, row) })),
    fixed: accepted.filter(({ finding, check }) => !found.has(finding) && wasPerformed(report, check)),
  };
}

/** The operations of a finding for which it is not accepted. */
function operationsBeyond({ touches }: PlacedFinding, { operations }: Acceptance): ReadonlySet<string> {
  return new Set(operations === 'all' ? [] : touches.map(({ operation }) => operation).filter((id) => !operations.includes(id)));
}

/** The part of a finding that concerns some of its operations. */
function narrowed(finding: PlacedFinding, open: ReadonlySet<string>): SettledFinding {
  const touches = finding.touches.filter(({ operation }) => open.has(operation));
  return {
    ...finding,
    touches,
    samples: finding.samples.filter(({ operation }) => open.has(operation)),
    curl: touches[0]?.curl ?? finding.curl,
    acceptedOn: [...new Set(finding.touches.map(({ operation }) => operation))].filter((id) => !open.has(id)),
  };
}

/** The verdict of an operation without its accepted findings; `accepted` when it has only those. */
function verdictWith(findings: readonly SettledFinding[], { operation, verdict, verified }: Coverage): Coverage['verdict'] {
  const own = findings.filter(
    ({ touches, acceptedOn = [] }) => acceptedOn.includes(operation) || touches.some((touch) => touch.operation === operation),
  );
  const isAccepted = own.some(({ accepted, acceptedOn }) => accepted !== undefined || acceptedOn?.includes(operation) === true);
  if (!isAccepted || verdict === 'passed') return verdict;
  const open = own.filter(({ accepted, acceptedOn }) => accepted === undefined && acceptedOn?.includes(operation) !== true);
  const worst = VERDICTS.find((one) => open.some((finding) => finding.verdict === one));
  return worst === undefined || (worst === 'unverified' && verified) ? 'accepted' : worst;
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
