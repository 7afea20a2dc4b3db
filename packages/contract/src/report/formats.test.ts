/** Open, accepted and expired findings with each verdict and each `failOn`, in each format. */
import { XMLParser } from 'fast-xml-parser';
import { describe, expect, test } from 'vitest';

import { VERDICTS } from '../judge/finding.ts';
import type { Verdict } from '../judge/finding.ts';
import type { PlacedFinding } from '../source/place-findings.ts';
import { failures, isFailed, settle } from './baseline.ts';
import type { Acceptance, SettledReport } from './baseline.ts';
import { toHar } from './har.ts';
import { toJunit } from './junit.ts';
import { toMarkdown } from './markdown.ts';
import type { Report } from './report.ts';
import { toSarif } from './sarif.ts';
import { summarise, summaryLine } from './summary.ts';

const TODAY = '2026-11-22';
const STATES = ['open', 'accepted', 'expired'] as const;
type State = (typeof STATES)[number];

/** An acceptance is valid on its last day, and expired on the next. */
const EXPIRES: Readonly<Record<State, string | undefined>> = { open: undefined, accepted: TODAY, expired: '2026-11-21' };

function findingOf(verdict: Verdict): PlacedFinding {
  return {
    id: 'f-1',
    check: 'property-type',
    verdict,
    isUrgent: false,
    about: 'service',
    message: 'a message',
    expected: 'a number',
    observed: 'a text',
    at: '/paths',
    touches: [{ operation: 'getThing', status: 200, times: 2, curl: '' }],
    samples: [],
    curl: 'curl http://a.test/',
    client: 'Your code breaks.',
    proposals: [],
    replay: 'an example',
    source: { file: 'openapi\\a.yaml', line: 3, column: 5 },
  };
}

const base: Omit<Report, 'findings'> = {
  format: 1,
  document: { title: 'Things', version: '1' },
  target: 'http://a.test/',
  mode: 'read-only',
  seed: 7,
  at: '2026-11-22T05:00:00.000Z',
  milliseconds: 1_234,
  checks: [{ id: 'property-type', claim: 'Types are right.', judges: 'Looks at types.', client: 'It breaks.' }],
  coverage: [
    {
      operation: 'getThing',
      method: 'GET',
      path: '/thing',
      requests: 2,
      statuses: [
        { status: '200', described: true, times: 2 },
        { status: '404', described: true, times: 0 },
        { status: '418', described: false, times: 1 },
      ],
      fields: { seen: 1, all: 2 },
      checks: [
        { check: 'property-type', outcome: 'passed' },
        { check: 'key-required', outcome: 'not-performed' },
      ],
      verdict: 'passed',
      verified: true,
      reason: '',
    },
  ],
  left: [],
  unfinished: [],
  failures: [],
  notes: [],
  spent: { amount: '0.00', unknown: 0 },
  traffic: [],
};

function acceptanceUntil(expires: string, finding = 'f-1'): Acceptance {
  return { finding, check: 'property-type', operations: 'all', reason: 'Known.', owner: 'accounting', expires };
}

function reportOf(verdict: Verdict, state: State, failOn: Verdict): SettledReport {
  const expires = EXPIRES[state];
  const accepted = expires === undefined ? [] : [acceptanceUntil(expires)];
  return settle({ ...base, findings: [findingOf(verdict)] }, accepted, TODAY, failOn);
}

const cases = VERDICTS.flatMap((verdict) =>
  STATES.flatMap((state) =>
    VERDICTS.map((failOn) => {
      const isSevereEnough = VERDICTS.indexOf(verdict) <= VERDICTS.indexOf(failOn);
      return { verdict, state, failOn, fails: state !== 'accepted' && isSevereEnough };
    }),
  ),
);

describe.each(cases)('$verdict, $state, --fail-on $failOn', ({ verdict, state, failOn, fails }) => {
  const report = reportOf(verdict, state, failOn);
  const isAccepted = state === 'accepted';

  test(`the run ${fails ? 'fails' : 'passes'}`, () => {
    expect(isFailed(report)).toBe(fails);
    expect(failures(report)).toHaveLength(fails ? 1 : 0);
    expect(summarise(report)).toMatchObject({
      verdict: fails ? 'failed' : 'passed',
      counts: { violation: 0, discovered: 0, learned: 0, unverified: 0, ...(!isAccepted && { [verdict]: 1 }) },
      accepted: isAccepted ? 1 : 0,
      fixed: 0,
    });
    expect(summaryLine(report).includes('1 accepted')).toBe(isAccepted);
  });

  test('JUnit', () => {
    const parser = new XMLParser({ ignoreAttributes: false, isArray: (name) => ['testsuite', 'testcase', 'failure'].includes(name) });
    const [suite] = parser.parse(toJunit(report)).testsuites.testsuite;
    expect(suite).toMatchObject({ '@_tests': '1', '@_failures': fails ? '1' : '0', '@_skipped': fails ? '0' : '1', '@_errors': '0' });
    const [found] = suite.testcase;
    const text = `${verdict}: a message\nexpected a number\nobserved a text\nat openapi\\a.yaml:3:5\ncurl http://a.test/`;
    if (fails) expect(found.failure).toEqual([{ '@_type': 'property-type', '@_message': 'a message', '#text': text }]);
    else
      expect(found).toMatchObject({
        '@_name': 'property-type',
        skipped: { '@_message': `${isAccepted ? 'accepted' : verdict}: a message`, '#text': text },
      });
    expect('failure' in found).toBe(fails);
  });

  test('SARIF', () => {
    const [result] = JSON.parse(toSarif(report)).runs[0].results;
    expect(result.level).toBe({ violation: 'error', discovered: 'warning', learned: 'warning', unverified: 'note' }[verdict]);
    expect(result.locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: 'openapi/a.yaml' },
      region: { startLine: 3, startColumn: 5 },
    });
    const suppressions = [{ kind: 'external', justification: 'Known. (accounting, until 2026-11-22)' }];
    expect(result.suppressions).toEqual(isAccepted ? suppressions : undefined);
  });

  test('Markdown', () => {
    const text = toMarkdown(report);
    expect(text).toContain(`# Contract of Things: ${fails ? 'failed' : 'passed'}\n`);
    expect(text.includes(`## ${verdict} (1)\n`)).toBe(!isAccepted);
    expect(text.includes('## Accepted\n\n- a message: Known. (accounting, until 2026-11-22)\n')).toBe(isAccepted);
    expect(text.includes(', accepted until 2026-11-21 by accounting\n')).toBe(state === 'expired');
    expect(text).toContain('1 of 2 statuses and 1 of 2 fields seen.');
    expect(text).toContain('| getThing | passed | 200 418 | 1/2 |  |\n');
  });
});

test.each<[string, Partial<Report>, boolean]>([
  ['what was not undone', { unfinished: ['a thing'] }, true],
  ['what nothing undoes', { left: ['a thing'] }, false],
])('a report without findings, with %s', (_, more, fails) => {
  const report = settle({ ...base, ...more, findings: [] }, [], TODAY);
  expect(isFailed(report)).toBe(fails);
  expect(toMarkdown(report)).toContain('a thing');
});

test('an unverified operation makes a run fail only with --fail-on unverified', () => {
  const coverage = base.coverage.map((row) => ({ ...row, verified: false, reason: 'it was not called' }));
  for (const failOn of VERDICTS)
    expect(isFailed(settle({ ...base, coverage, findings: [] }, [], TODAY, failOn))).toBe(failOn === 'unverified');
});

test('lists an accepted finding that no longer occurs as fixed in every format, but only if its check was performed', () => {
  const gone = [acceptanceUntil(TODAY, 'f-2'), { ...acceptanceUntil(TODAY, 'f-3'), check: 'key-required' }];
  const report = settle({ ...base, findings: [] }, gone, TODAY);
  expect(report.fixed.map(({ finding }) => finding)).toEqual(['f-2']);
  expect(summaryLine(report)).toContain('1 fixed');
  expect(toMarkdown(report)).toContain('- property-type f-2 no longer occurs: remove it from the baseline (Known.)');
});

test.each([
  ['application/json', '{"a":1}'],
  ['application/x-www-form-urlencoded', 'a=1'],
])('the HAR says that a body is %s', (type, requestBody) => {
  const exchange = {
    operation: 'setThing',
    purpose: 'call',
    detail: '',
    at: base.at,
    milliseconds: 5,
    method: 'PUT',
    url: 'http://a.test/thing?b=2&c=',
    requestHeaders: { 'content-type': type },
    requestBody,
    status: 200,
    responseHeaders: { 'x-a': 'b' },
    contentType: 'application/json',
    responseBody: '{}',
  };
  const [entry] = JSON.parse(toHar({ traffic: [exchange] })).log.entries;
  expect(entry).toMatchObject({
    startedDateTime: base.at,
    time: 5,
    comment: 'setThing call',
    request: {
      method: 'PUT',
      postData: { mimeType: type, text: requestBody },
      queryString: [
        { name: 'b', value: '2' },
        { name: 'c', value: '' },
      ],
    },
    response: { status: 200, headers: [{ name: 'x-a', value: 'b' }], content: { size: 2, mimeType: 'application/json', text: '{}' } },
  });
  expect(JSON.parse(toHar({ traffic: [{ ...exchange, requestBody: undefined }] })).log.entries[0].request.postData).toBeUndefined();
});
