/** The sentences, figures and CSS classes of the reports. */

import { XMLParser } from 'fast-xml-parser';
import { describe, expect, test } from 'vitest';

import type { Coverage } from '../judge/coverage.ts';
import type { Verdict } from '../judge/finding.ts';
import type { PlacedFinding } from '../source/place-findings.ts';
import { settle } from './baseline.ts';
import type { Acceptance, SettledReport } from './baseline.ts';
import { toJunit } from './junit.ts';
import { toMarkdown } from './markdown.ts';
import type { Report } from './report.ts';
import { toSarif } from './sarif.ts';
import { summaryLine } from './summary.ts';

const TODAY = '2026-11-22';

let next = 0;
function findingOf(verdict: Verdict, more: Partial<PlacedFinding> = {}): PlacedFinding {
  return {
    id: `f-${++next}`,
    check: 'property-type',
    verdict,
    isUrgent: false,
    about: 'service',
    message: `message ${next}`,
    expected: 'a number',
    observed: 'a text',
    at: '/paths',
    touches: [{ operation: 'getThing', status: 200, times: 1, curl: '' }],
    samples: [],
    curl: 'curl http://a.test/',
    client: 'It breaks.',
    proposals: [],
    replay: 'an example',
    ...more,
  };
}

function rowOf(more: Partial<Coverage> = {}): Coverage {
  return {
    operation: 'getThing',
    method: 'GET',
    path: '/thing',
    requests: 1,
    statuses: [],
    fields: { seen: 0, all: 0 },
    checks: [],
    verdict: 'passed',
    verified: true,
    reason: '',
    ...more,
  };
}

interface Given {
  readonly findings?: readonly PlacedFinding[];
  readonly accepted?: readonly Acceptance[];
  readonly failOn?: Verdict;
}

function reportOf({ findings = [], accepted = [], failOn, ...more }: Given & Partial<Omit<Report, 'findings'>> = {}): SettledReport {
  const report = {
    format: 1 as const,
    document: { title: 'Things', version: '1' },
    target: 'http://a.test/',
    mode: 'read-only' as const,
    seed: 7,
    at: '2026-11-22T05:00:00.000Z',
    milliseconds: 1_234,
    checks: [],
    coverage: [rowOf()],
    left: [],
    unfinished: [],
    failures: [],
    notes: [],
    spent: { amount: '0.00', unknown: 0 },
    traffic: [],
    ...more,
    findings,
  };
  return settle(report, accepted, TODAY, failOn);
}

const acceptanceOf = (finding: string, expires = TODAY): Acceptance => ({
  finding,
  check: 'property-type',
  operations: 'all',
  reason: 'Known.',
  owner: 'accounting',
  expires,
});

describe('the formats', () => {
  const finding = findingOf('violation', {
    touches: [
      { operation: 'getThing', status: 200, times: 1, curl: '' },
      { operation: 'listThings', status: 404, times: 3, curl: '' },
    ],
    patch: '--- a\n+++ b\n+new\n',
  });
  const coverage = [
    rowOf({
      statuses: [
        { status: '200', described: true, times: 2 },
        { status: '404', described: true, times: 0 },
      ],
      checks: [
        { check: 'property-type', outcome: 'violation' },
        { check: 'key-required', outcome: 'not-performed' },
      ],
      verified: false,
      reason: 'no key',
    }),
    rowOf({
      operation: 'listThings',
      checks: [
        { check: 'property-type', outcome: 'passed' },
        { check: 'value-seen', outcome: 'passed' },
      ],
    }),
  ];

  test('JUnit has a suite for each operation, and a case for each check that was performed and for an operation that was not verified', () => {
    const second = findingOf('violation');
    const parser = new XMLParser({ ignoreAttributes: false, isArray: (name) => ['testsuite', 'testcase', 'failure'].includes(name) });
    const { testsuites } = parser.parse(toJunit(reportOf({ findings: [finding, second], coverage })));
    expect([testsuites['@_name'], testsuites['@_time']]).toEqual(['Contract of Things 1', '1.234']);
    const [one, other] = testsuites.testsuite;
    expect(one).toMatchObject({
      '@_name': 'getThing',
      '@_timestamp': '2026-11-22T05:00:00.000Z',
      '@_tests': '2',
      '@_failures': '1',
      '@_skipped': '1',
    });
    expect(one.testcase[0]).toEqual({ '@_name': 'verified', '@_classname': 'getThing', skipped: { '@_message': 'no key' } });
    expect(one.testcase[1].failure.map((each: Record<string, string>) => each['@_message'])).toEqual([finding.message, second.message]);
    expect(other).toMatchObject({ '@_name': 'listThings', '@_tests': '2', '@_failures': '1', '@_skipped': '0' });
    expect(Object.keys(other.testcase[1])).toEqual(['@_name', '@_classname']);
  });

  test('Markdown has a section for each finding, and the rest of the run', () => {
    const text = toMarkdown(reportOf({ findings: [finding], coverage, left: ['a stay'], notes: ['a note'], unfinished: ['an undo'] }));
    for (const part of [
      'http://a.test/, read-only, seed 7. 0 responses judged; 1 of 2 operations verified; 1 violation, 0 discovered, 0 learned; unverified: 1 operation; 1 of 2 statuses and 0 of 0 fields seen.\n',
      `### ${finding.message}\n\n- check property-type, finding \`${finding.id}\`\n- seen on getThing 200, listThings 404 (3 times)\n- expected a number, observed a text\n- It breaks.\n\n\`\`\`sh\ncurl http://a.test/\n\`\`\`\n\n\`\`\`diff\n--- a\n+++ b\n+new\n\`\`\`\n`,
      '## Not undone as planned\n\n- an undo\n',
      '## About the document\n\n- a note\n',
      '## Left behind\n\n- a stay\n',
      '| operation | verdict | statuses | fields | |\n| --- | --- | --- | --- | --- |\n| getThing | passed | 200 | 0/0 | no key |\n',
    ])
      expect(text).toContain(part);
    const none = toMarkdown(reportOf());
    for (const part of ['## Planned', '## About', '## Left', '## Accepted', '## Fixed', '## violation']) expect(none).not.toContain(part);
  });

  test('SARIF lists the checks, and has no location for a finding without a source', () => {
    const checks = [{ id: 'property-type', claim: 'Types are right.', judges: 'Looks at types.', client: 'It breaks.' }];
    const { version, runs } = JSON.parse(toSarif(reportOf({ findings: [finding], checks })));
    expect([version, runs[0].columnKind, runs[0].tool.driver.name]).toEqual(['2.1.0', 'utf16CodeUnits', 'contract']);
    expect(runs[0].tool.driver.rules).toEqual([
      {
        id: 'property-type',
        shortDescription: { text: 'Types are right.' },
        fullDescription: { text: 'Looks at types.' },
        help: { text: 'Looks at types.\n\nFor users of the client: It breaks.' },
      },
    ]);
    expect(runs[0].results).toEqual([
      {
        ruleId: 'property-type',
        level: 'error',
        message: { text: `${finding.message} (getThing 200, listThings 404): expected a number, observed a text` },
        partialFingerprints: { contract: finding.id },
        locations: [],
      },
    ]);
  });

  test('the summary line omits figures that are zero', () => {
    expect(summaryLine(reportOf())).toBe('0 responses judged; 1 of 1 operations verified; 0 violation, 0 discovered, 0 learned');
    const accepted = [acceptanceOf(finding.id), { ...acceptanceOf('f-gone') }];
    expect(summaryLine(reportOf({ findings: [finding, findingOf('unverified')], accepted, coverage }))).toBe(
      '0 responses judged; 1 of 2 operations verified; 0 violation, 0 discovered, 0 learned, 1 accepted, 1 fixed; unverified: 1 operation and 1 other part',
    );
  });
});
