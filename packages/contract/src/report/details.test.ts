/** The sentences, figures and CSS classes of the reports. */
import { createHash } from 'node:crypto';

import { XMLParser } from 'fast-xml-parser';
import { describe, expect, test } from 'vitest';

import type { Coverage } from '../judge/coverage.ts';
import type { Verdict } from '../judge/finding.ts';
import type { PlacedFinding } from '../source/place-findings.ts';
import { settle } from './baseline.ts';
import type { Acceptance, SettledReport } from './baseline.ts';
import { toHtml } from './html.ts';
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
    tag: undefined,
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
    plan: [],
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

const unverified = rowOf({ verified: false });
const acceptanceOf = (finding: string, expires = TODAY): Acceptance => ({
  finding,
  check: 'property-type',
  operations: 'all',
  reason: 'Known.',
  owner: 'accounting',
  expires,
});

describe('the summary of the page', () => {
  test.each<[string, Parameters<typeof reportOf>[0], string]>([
    ['nothing', {}, 'No response contradicts what the document shows. Every operation was verified.'],
    ['a violation', { findings: [findingOf('violation')] }, 'The service contradicts its document in 1 way. Every operation was verified.'],
    [
      'two violations',
      { findings: [findingOf('violation'), findingOf('violation')] },
      'The service contradicts its document in 2 ways. Every operation was verified.',
    ],
    [
      'a violation of a client',
      { findings: [findingOf('violation', { about: 'client' })] },
      'Clients send what the document does not allow, in 1 way. Every operation was verified.',
    ],
    [
      'violations of both',
      { findings: [findingOf('violation'), findingOf('violation', { about: 'client' }), findingOf('violation', { about: 'client' })] },
      'The service contradicts its document in 1 way. Clients send what the document does not allow, in 2 ways. Every operation was verified.',
    ],
    [
      'something learned',
      { findings: [findingOf('learned')] },
      'No response contradicts what the document shows. The document can learn 1 thing. Every operation was verified.',
    ],
    [
      'something learned and something discovered',
      { findings: [findingOf('learned'), findingOf('discovered'), findingOf('unverified')] },
      'No response contradicts what the document shows. The document can learn 2 things. Every operation was verified.',
    ],
    [
      'a run that fails for something else',
      { findings: [findingOf('learned')], failOn: 'learned' },
      'No response contradicts what the document shows. The document can learn 1 thing. Every operation was verified.',
    ],
    [
      'an operation that was not verified',
      { coverage: [rowOf(), unverified] },
      'No response contradicts what the document shows. 1 operation of 2 not verified.',
    ],
    [
      'two of them',
      { coverage: [rowOf(), unverified, unverified] },
      'No response contradicts what the document shows. 2 operations of 3 not verified.',
    ],
    [
      'money that was spent',
      { spent: { amount: '1.00', unknown: 0 } },
      'No response contradicts what the document shows. Every operation was verified. Spent: 1.00.',
    ],
    [
      'a purchase of unknown price',
      { spent: { amount: '0.00', unknown: 1 } },
      'No response contradicts what the document shows. Every operation was verified. Spent: 0.00 and 1 purchase of unknown price.',
    ],
    [
      'two of them and money',
      { spent: { amount: '2.50', unknown: 2 } },
      'No response contradicts what the document shows. Every operation was verified. Spent: 2.50 and 2 purchases of unknown price.',
    ],
  ])('say %s', (_, given, expected) => {
    expect(toHtml(reportOf(given))).toContain(`<p class="said">${expected}</p>`);
  });

  test('does not count accepted findings', () => {
    const finding = findingOf('violation');
    const html = toHtml(reportOf({ findings: [finding], accepted: [acceptanceOf(finding.id)] }));
    expect(html).toContain('<p class="said">No response contradicts what the document shows. Every operation was verified.</p>');
    expect(html).toContain('<div class="figure"><b>1 / 0</b><span>accepted / fixed</span></div>');
    expect(toHtml(reportOf())).not.toContain('accepted / fixed');
  });
});

describe('the page', () => {
  const coverage = [
    rowOf({
      operation: 'x'.repeat(32),
      statuses: [
        { status: '200', described: true, times: 2 },
        { status: '404', described: true, times: 0 },
        { status: '418', described: false, times: 1 },
      ],
      fields: { seen: 1, all: 3 },
      checks: [
        { check: 'property-type', outcome: 'passed' },
        { check: 'key-required', outcome: 'not-performed' },
        { check: 'value-seen', outcome: 'learned' },
      ],
      requests: 2,
    }),
    rowOf({ operation: 'y'.repeat(33), verified: false, verdict: 'unverified', reason: 'it was not called', requests: 0 }),
    rowOf({ requests: 1 }),
  ];

  test('shows the coverage of each operation', () => {
    const html = toHtml(reportOf({ coverage }));
    expect(html).toContain(
      '<span class="soft"><span class="seen">200 × 2</span>, <span class="unseen">404</span>, <span class="undescribed">418 × 1 (not described)</span></span>',
    );
    expect(html).toContain('<i style="width:33%"></i></span><br>1/3 fields, 2 requests</span>');
    expect(html).toContain('<i style="width:0%"></i></span><br>0/0 fields, 0 requests</span>');
    expect(html).toContain('0/0 fields, 1 request</span>');
    expect(html).toContain(
      '<li class="seen">property-type: passed</li><li class="unseen">key-required: not-performed</li><li class="undescribed">value-seen: learned</li>',
    );
    expect(html.match(/Not verified: it was not called/g)).toHaveLength(1);
    expect(html.match(/<p class="soft">Not verified/g)).toHaveLength(1);
    for (const figure of [
      '<b>2/<wbr>3</b><span>operations verified',
      '<b>1/<wbr>2</b><span>described statuses seen',
      '<b>1/<wbr>3</b><span>described fields seen',
      '<b>0</b><span>requests',
    ])
      expect(html).toContain(figure);
  });

  test('has filters for its operations, checks and verdicts, with names that fit on a phone', () => {
    const findings = [
      findingOf('violation', { check: 'z-check' }),
      findingOf('learned', { check: 'a-check' }),
      findingOf('learned', { check: 'a-check' }),
    ];
    const html = toHtml(reportOf({ coverage, findings }));
    expect(html).toContain(
      `<option value="">all 3 operations</option><option value="o0">${'x'.repeat(32)}</option><option value="o1">${'y'.repeat(31)}…</option>`,
    );
    expect(html).toContain('<option value="o2">getThing</option>');
    expect(html).toContain(
      '<option value="">all checks</option><option value="c0">a-check</option><option value="c1">z-check</option></select>',
    );
    expect(html).toContain(
      '<option value="">all verdicts</option><option value="v0">violation</option><option value="v1">discovered</option><option value="v2">learned</option><option value="v3">unverified</option>',
    );
    expect(html).toContain('class="finding o2 c1 v0"><summary>');
    expect(html).toContain('class="finding o2 c0 v2">');
    expect(html.match(/class="covered o[012]"/g)).toHaveLength(3);
    for (const name of ['o0', 'o1', 'o2'])
      expect(html).toContain(`body:has(option[value="${name}"]:checked) :is(.finding, .group, .covered):not(.${name}) { display: none; }`);
    for (const name of ['c0', 'c1', 'v0', 'v1', 'v2', 'v3'])
      expect(html).toContain(`body:has(option[value="${name}"]:checked) :is(.finding, .group):not(.${name}) { display: none; }`);
    for (const name of ['o3', 'c2', 'v4']) expect(html).not.toContain(`"${name}"`);
    expect(toHtml(reportOf({ coverage }))).not.toContain('<form');
  });

  test('allows only its own script, and includes it only with findings', () => {
    const html = toHtml(reportOf({ findings: [findingOf('violation')] }));
    const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(html) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'"`);
    const without = toHtml(reportOf());
    expect(without).not.toContain('<script>');
    expect(without).toContain('<p>No findings.</p>');
  });

  test('shows the occurrences of a finding, the command that reproduces it, and the proposed change', () => {
    const finding = findingOf('violation', {
      about: 'client',
      touches: [
        { operation: 'getThing', status: 200, times: 1, curl: '' },
        { operation: 'listThings', status: 404, times: 3, curl: '' },
      ],
      samples: [
        { operation: 'getThing', status: 200, pointer: '', observed: 'nothing' },
        { operation: 'getThing', status: 200, pointer: '/a', observed: 'a text' },
      ],
      source: { file: 'a.yaml', line: 3, column: 5 },
      patch: '--- a\n+++ b\n same\n-old\n+new',
    });
    const html = toHtml(
      reportOf({
        findings: [finding],
        accepted: [acceptanceOf(finding.id, '2026-11-21')],
        checks: [{ id: 'property-type', claim: 'Types are right.', judges: '', client: '' }],
      }),
    );
    for (const part of [
      `<summary><span class="verdict">client</span> <b>${finding.message}</b> <span class="soft">getThing 200, listThings 404 × 3</span></summary>`,
      '<p>Seen at</p><ul><li><code>the response</code> of getThing: nothing</li><li><code>/a</code> of getThing: a text</li></ul>',
      '<code>a.yaml:3:5</code>',
      '<code>property-type</code> <span class="soft">1 finding. Types are right.</span>',
      '<p>Proposed change</p><pre><span class="remove">--- a</span>\n<span class="add">+++ b</span>\n same\n<span class="remove">-old</span>\n<span class="add">+new</span></pre>',
      ' accepted until 2026-11-21 by accounting, which has expired',
      `<p>Findings</p><ul><li><a href="#${finding.id}">${finding.message}</a></li></ul>`,
    ])
      expect(html).toContain(part);
    const plain = toHtml(reportOf({ findings: [findingOf('learned')] }));
    for (const part of ['Seen at', 'Proposed change', 'which is over', '>client<', 'scope="row">document'])
      expect(plain).not.toContain(part);
  });

  test('omits empty sections', () => {
    const lines = { left: ['a stay'], unfinished: ['an undo'], notes: ['a note'], plan: ['GET /thing'] };
    const html = toHtml(reportOf(lines));
    const headings = ['Left behind on the account', 'Not undone as planned', 'About the document'];
    for (const part of [
      ...headings,
      '<li>a stay</li>',
      '<li>an undo</li>',
      '<li>a note</li>',
      '<li><code>GET /thing</code></li>',
      '1 step</summary>',
    ])
      expect(html).toContain(part);
    const none = toHtml(reportOf());
    for (const part of headings) expect(none).not.toContain(part);
    expect(none).toContain('0 steps</summary>');
    expect(none).not.toContain('<h2>Baseline</h2>');
  });
});

describe('the other formats', () => {
  const finding = findingOf('violation', {
    touches: [
      { operation: 'getThing', status: 200, times: 1, curl: '' },
      { operation: 'listThings', status: 404, times: 3, curl: '' },
    ],
    patch: '--- a\n+++ b\n+new\n',
  });
  const coverage = [
    rowOf({
      checks: [
        { check: 'property-type', outcome: 'violation' },
        { check: 'key-required', outcome: 'not-performed' },
      ],
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

  test('JUnit has a suite for each operation and a case for each check', () => {
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
    expect(one.testcase[0].failure.map((each: Record<string, string>) => each['@_message'])).toEqual([finding.message, second.message]);
    expect(one.testcase[1]).toMatchObject({ '@_name': 'key-required', '@_classname': 'getThing', skipped: { '@_message': 'no key' } });
    expect(other).toMatchObject({ '@_name': 'listThings', '@_tests': '2', '@_failures': '1', '@_skipped': '0' });
    expect(Object.keys(other.testcase[1])).toEqual(['@_name', '@_classname']);
  });

  test('Markdown has a section for each finding, and the rest of the run', () => {
    const text = toMarkdown(reportOf({ findings: [finding], coverage, left: ['a stay'], notes: ['a note'], unfinished: ['an undo'] }));
    for (const part of [
      'http://a.test/, read-only, seed 7. 0 responses judged; 2 of 2 operations verified; 1 violation, 0 discovered, 0 learned; 0 of 0 statuses and 0 of 0 fields seen.\n',
      `### ${finding.message}\n\n- check property-type, finding \`${finding.id}\`\n- seen on getThing 200, listThings 404 (3 times)\n- expected a number, observed a text\n- It breaks.\n\n\`\`\`sh\ncurl http://a.test/\n\`\`\`\n\n\`\`\`diff\n--- a\n+++ b\n+new\n\`\`\`\n`,
      '## Not undone as planned\n\n- an undo\n',
      '## About the document\n\n- a note\n',
      '## Left behind\n\n- a stay\n',
      '| operation | verdict | statuses | fields | |\n| --- | --- | --- | --- | --- |\n| getThing | passed |  | 0/0 | no key |\n',
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
      '0 responses judged; 2 of 2 operations verified; 0 violation, 0 discovered, 0 learned, 1 unverified, 1 accepted, 1 fixed',
    );
  });
});
