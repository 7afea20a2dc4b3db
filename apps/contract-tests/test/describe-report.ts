import { CHECKS } from '@reseller/contract/engine';
import type { Acceptance, Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

/** Checks that need something which a single run of one service does not have. */
const ELSEWHERE: ReadonlySet<string> = new Set(['parity', 'request-described', 'operation-described']);

/**
 * One test for each operation and each check that had something to look at. An operation that was not exercised is skipped with
 * its reason, so that it is seen and never counted as passed.
 */
export function describeReport(report: Report, accepted: readonly Acceptance[] = []): void {
  describe.each([...report.coverage])('$operation', ({ operation, checks, verified, reason }) => {
    const performed = checks.filter(({ check, outcome }) => outcome !== 'not-performed' && !ELSEWHERE.has(check));

    test('responds with success', ({ skip }) => {
      skip(!verified, reason);
      expect(verified).toBe(true);
    });

    test.each(performed)('$check', ({ check }) => {
      expect(violations(report, operation, check, accepted)).toEqual([]);
    });
  });

  test.each([...accepted])('what is accepted of $check is still there, and still accepted', ({ finding, expires }) => {
    expect(report.findings.map(({ id }) => id)).toContain(finding);
    expect(expires > report.at.slice(0, 10)).toBe(true);
  });
}

function violations(report: Report, operation: string, check: string, accepted: readonly Acceptance[]): readonly string[] {
  return report.findings
    .filter(({ id, verdict }) => verdict === 'violation' && !accepted.some(({ finding }) => finding === id))
    .filter((finding) => finding.check === check && finding.touches.some((touch) => touch.operation === operation))
    .map(({ message, expected, observed, id, curl }) => `${message}: expected ${expected}, observed ${observed} (finding ${id}) ${curl}`);
}

/** The checks that had something to look at on at least one operation. */
export function performedChecks({ coverage }: Report): readonly string[] {
  const performed = new Set(
    coverage.flatMap(({ checks }) => checks.filter(({ outcome }) => outcome !== 'not-performed').map(({ check }) => check)),
  );
  return CHECKS.map(({ id }) => id).filter((id) => performed.has(id));
}
