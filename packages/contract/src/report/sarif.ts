import type { Log, Result } from 'sarif';

import type { Verdict } from '../judge/finding.ts';
import type { SettledFinding, SettledReport } from './baseline.ts';

const LEVELS: Readonly<Record<Verdict, Result.level>> = {
  violation: 'error',
  learned: 'warning',
  discovered: 'warning',
  unverified: 'note',
};

/**
 * Renders the report as SARIF 2.1.0, with the source location of each finding.
 * @param placeOf the path of a source file in its repository. Code hosts ignore other paths. Default: the path as it is
 */
export function toSarif(report: SettledReport, placeOf: (file: string) => string = (file) => file): string {
  const log: Log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'contract',
            rules: report.checks.map((check) => ({
              id: check.id,
              shortDescription: { text: check.claim },
              fullDescription: { text: check.judges },
              help: { text: `${check.judges}\n\nFor users of the client: ${check.client}` },
            })),
          },
        },
        results: report.findings.map((finding) => resultOf(finding, placeOf)),
        columnKind: 'utf16CodeUnits',
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function resultOf(finding: SettledFinding, placeOf: (file: string) => string): Result {
  const { source, accepted } = finding;
  const operations = finding.touches.map(({ operation, status }) => `${operation} ${status}`).join(', ');
  return {
    ruleId: finding.check,
    level: LEVELS[finding.verdict],
    message: { text: `${finding.message} (${operations}): expected ${finding.expected}, observed ${finding.observed}` },
    partialFingerprints: { contract: finding.id },
    locations:
      source === undefined
        ? []
        : [
            {
              physicalLocation: {
                artifactLocation: { uri: placeOf(source.file).replaceAll('\\', '/') },
                region: { startLine: source.line, startColumn: source.column },
              },
            },
          ],
    ...(accepted === undefined
      ? {}
      : {
          suppressions: [{ kind: 'external' as const, justification: `${accepted.reason} (${accepted.owner}, until ${accepted.expires})` }],
        }),
  };
}
