import { CHECKS } from '@reseller/contract/engine';
import type { Acceptance, Report } from '@reseller/contract/engine';
import { expect, test } from 'vitest';

/** Checks that need a second service or recorded traffic. */
const ELSEWHERE: ReadonlySet<string> = new Set(['request-described', 'operation-described']);

/**
 * Defines a test for each operation and one for each performed check. Skips operations that were not called, with the reason, so that they do
 * not count as passed.
 */
export function describeReport(report: Report, accepted: readonly Acceptance[] = []): void {
  test.for([...report.coverage])('$operation responds with success', ({ verified, reason }, { skip }) => {
    skip(!verified, reason);
    expect(verified).toBe(true);
  });

  test.each(performedChecks(report).filter((check) => !ELSEWHERE.has(check)))('no operation violates %s', (check) => {
    expect(violations(report, check, accepted)).toEqual([]);
  });

  test.each([...accepted])('the accepted finding of $check still occurs, and its acceptance has not expired', ({ finding, expires }) => {
    expect(report.findings.map(({ id }) => id)).toContain(finding);
    expect(expires > report.at.slice(0, 10)).toBe(true);
  });
}

function violations(report: Report, check: string, accepted: readonly Acceptance[]): readonly string[] {
  return report.findings
    .filter((finding) => finding.check === check && finding.verdict === 'violation' && !accepted.some((one) => one.finding === finding.id))
    .map(
      ({ touches, message, expected, observed, id, curl }) =>
        `${touches.map(({ operation }) => operation).join(', ')}: ${message}: expected ${expected}, observed ${observed} (finding ${id}) ${curl}`,
    );
}

/** The checks that were performed on at least one operation. */
export function performedChecks({ coverage }: Report): readonly string[] {
  const performed = new Set(
    coverage.flatMap(({ checks }) => checks.filter(({ outcome }) => outcome !== 'not-performed').map(({ check }) => check)),
  );
  return CHECKS.map(({ id }) => id).filter((id) => performed.has(id));
}
