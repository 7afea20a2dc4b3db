import { XMLBuilder } from 'fast-xml-parser';

import { visible } from '../exchange/visible.ts';
import type { Coverage } from '../judge/coverage.ts';
import { failureText } from '../judge/failures.ts';
import { failures } from './baseline.ts';
import type { SettledFinding, SettledReport } from './baseline.ts';

/**
 * Renders the report as JUnit XML: a suite for each operation, with a case for each check of its responses. A finding that does not make the run fail
 * is a skipped case, because programs that read JUnit show the output of passed cases nowhere.
 */
export function toJunit(report: SettledReport): string {
  const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: '@', format: true, suppressEmptyNode: true });
  const suites = [...report.coverage.map((row) => suiteOf(row, report)), ...errorSuite(report)];
  const document = {
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    testsuites: {
      '@name': `Contract of ${report.document.title} ${report.document.version}`,
      '@time': (report.milliseconds / 1_000).toFixed(3),
      testsuite: suites,
    },
  };
  return visible(builder.build(document));
}

/** The errors of the run as a suite of their own, because they belong to no check. */
function errorSuite({ failures: errors, at }: SettledReport): readonly Readonly<Record<string, unknown>>[] {
  if (errors.length === 0) return [];
  const cases = errors.map((failure) => ({
    '@name': failure.where,
    '@classname': 'run',
    error: { '@message': failureText(failure) },
  }));
  return [
    { '@name': 'run', '@timestamp': at, '@tests': cases.length, '@failures': 0, '@skipped': 0, '@errors': cases.length, testcase: cases },
  ];
}

function suiteOf(row: Coverage, report: SettledReport): Readonly<Record<string, unknown>> {
  const { findings, at } = report;
  const own = findings.filter(({ touches }) => touches.some(({ operation }) => operation === row.operation));
  const failing = new Set(failures(report));
  const performed = row.checks.filter(({ outcome }) => outcome !== 'not-performed');
  const judged = performed.map(({ check }) => {
    const mine = own.filter((finding) => finding.check === check);
    const failed = mine.filter((finding) => failing.has(finding));
    const base = { '@name': check, '@classname': row.operation };
    if (failed.length > 0)
      return { ...base, failure: failed.map((finding) => ({ '@type': check, '@message': finding.message, '#text': detail(finding) })) };
    const messages = mine.map(({ accepted, verdict, message }) => `${accepted === undefined ? verdict : 'accepted'}: ${message}`);
    return mine.length === 0 ? base : { ...base, skipped: { '@message': messages.join('; '), '#text': mine.map(detail).join('\n\n') } };
  });
  const unverified = { '@name': 'verified', '@classname': row.operation, skipped: { '@message': row.reason } };
  const cases = row.verified ? judged : [unverified, ...judged];
  return {
    '@name': row.operation,
    '@timestamp': at,
    '@tests': cases.length,
    '@failures': cases.filter((one) => 'failure' in one).length,
    '@skipped': cases.filter((one) => 'skipped' in one).length,
    '@errors': 0,
    testcase: cases,
  };
}

function detail({ verdict, message, expected, observed, source, curl }: SettledFinding): string {
  const place = source === undefined ? '' : `\nat ${source.file}:${source.line}:${source.column}`;
  return `${verdict}: ${message}\nexpected ${expected}\nobserved ${observed}${place}\n${curl}`;
}
