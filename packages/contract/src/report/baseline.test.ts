/** Baselines: the findings that a team accepts for a while, and which of the others make a run fail. */
import { describe, expect, test } from 'vitest';

import { VERDICTS } from '../judge/finding.ts';
import type { Verdict } from '../judge/finding.ts';
import { BaselineError, failures, isFailed, readBaseline, settle } from './baseline.ts';
import type { Acceptance } from './baseline.ts';

const ACCEPTED: Acceptance = {
  finding: 'f1',
  check: 'c1',
  operations: ['getThing'],
  reason: 'The vendor fixes it.',
  owner: 'ann',
  expires: '2026-11-22',
};

describe('a baseline', () => {
  test('is a list in YAML or JSON', () => {
    const yaml =
      'accepted:\n  - finding: f1\n    check: c1\n    operations: [getThing]\n    reason: The vendor fixes it.\n    owner: ann\n    expires: "2026-11-22"\n    more: 1\n';
    expect(readBaseline(yaml)).toEqual([ACCEPTED]);
    expect(readBaseline(JSON.stringify({ accepted: [ACCEPTED, ACCEPTED] }))).toEqual([ACCEPTED, ACCEPTED]);
    expect(readBaseline('accepted: []')).toEqual([]);
  });

  test.each(['', '[]', 'accepted', 'accepted: {}', '{"other": []}'])('without a list, such as %j, is refused', (text) => {
    expect(() => readBaseline(text)).toThrow(new BaselineError('The baseline has no list "accepted".'));
  });

  test('that is not YAML is refused with one line of the reason', () => {
    expect(() => readBaseline('accepted: [')).toThrow(/^The baseline is not YAML: [^\n]+$/);
    expect(() => readBaseline('accepted: [')).toThrow(expect.objectContaining({ name: 'BaselineError', cause: expect.any(Error) }));
  });

  test.each([
    ...Object.keys(ACCEPTED).flatMap((name) => ['', null, 7].map((value): [string, unknown] => [name, value])),
    ...[[], ['getThing', 7], 'some'].map((value): [string, unknown] => ['operations', value]),
    ...['2026-11-2', '12026-11-22', '2026-11-22T00', 'soon', '22-11-2026'].map((value): [string, unknown] => ['expires', value]),
  ])('with %s as %j is refused by the number of its entry', (name, value) => {
    const message =
      'Entry 2 of the baseline needs finding, check, reason, owner and expires (YYYY-MM-DD) as text, and operations: a list of operations, or all.';
    const without: Record<string, unknown> = { ...ACCEPTED };
    delete without[name];
    for (const entry of [{ ...ACCEPTED, [name]: value }, without, 'text', null])
      expect(() => readBaseline(JSON.stringify({ accepted: [ACCEPTED, entry] }))).toThrow(new BaselineError(message));
  });
});

type Settled = Parameters<typeof settle>[0];

/** A report with these findings, of checks that were performed, passed over or did not apply. */
function reportOf(
  findings: readonly {
    readonly id: string;
    readonly verdict: Verdict;
    readonly touches: readonly object[];
    readonly samples?: readonly object[];
  }[],
  more: object = {},
): Settled {
  const report: Pick<Settled, 'unfinished'> & { findings: unknown; coverage: unknown } = {
    findings,
    coverage: [
      {
        verified: true,
        checks: [
          { check: 'c1', outcome: 'passed' },
          { check: 'c2', outcome: 'not-performed' },
        ],
      },
    ],
    unfinished: [],
    ...more,
  };
  return JSON.parse(JSON.stringify(report));
}

describe('an acceptance', () => {
  const touches = [{ operation: 'getThing', status: 200, times: 1, curl: 'curl getThing' }];
  const finding = { id: 'f1', verdict: 'violation', touches, samples: [], curl: 'curl getThing' } as const;

  test.each([
    ['2026-11-21', { accepted: ACCEPTED }, 0],
    ['2026-11-22', { accepted: ACCEPTED }, 0],
    ['2026-11-23', { expired: ACCEPTED }, 1],
  ])('on %s holds through its last day', (today, mark, failing) => {
    const settled = settle(reportOf([finding]), [ACCEPTED], today);
    expect(settled.findings).toEqual([{ ...finding, ...mark }]);
    expect([failures(settled).length, isFailed(settled), settled.failOn, settled.fixed]).toEqual([failing, failing > 0, 'violation', []]);
  });

  test('of another finding changes nothing', () => {
    expect(settle(reportOf([{ ...finding, id: 'f2' }]), [ACCEPTED], '2026-11-22').findings).toEqual([{ ...finding, id: 'f2' }]);
  });

  test('does not hold for an operation that it does not name', () => {
    const other = { operation: 'listThings', status: 500, times: 2, curl: 'curl listThings' };
    const samples = ['getThing', 'listThings'].map((operation) => ({ operation, status: 200, pointer: '', observed: '1' }));
    const settled = settle(reportOf([{ ...finding, touches: [...touches, other], samples }]), [ACCEPTED], '2026-11-22');
    expect(settled.findings).toEqual([
      { ...finding, touches: [other], samples: [samples[1]], curl: 'curl listThings', acceptedOn: ['getThing'] },
    ]);
    expect(isFailed(settled)).toBe(true);
    const all = settle(
      reportOf([{ ...finding, touches: [...touches, other], samples }]),
      [{ ...ACCEPTED, operations: 'all' }],
      '2026-11-22',
    );
    expect(isFailed(all)).toBe(false);
  });

  test('is shown in the row of its operation', () => {
    const rows = ['getThing', 'listThings'].map((operation) => ({ operation, verdict: 'violation', verified: true, checks: [] }));
    const report = reportOf([finding, { ...finding, id: 'f2', touches: [{ ...touches[0], operation: 'listThings' }] }], { coverage: rows });
    expect(settle(report, [ACCEPTED], '2026-11-22').coverage.map(({ verdict }) => verdict)).toEqual(['accepted', 'violation']);
  });

  test('is fixed where its finding is gone, if its check was performed', () => {
    const accepted = ['c1', 'c2', 'c3'].map((check) => ({ ...ACCEPTED, check, finding: `gone-${check}` }));
    expect(settle(reportOf([finding]), [ACCEPTED, ...accepted], '2026-11-22').fixed).toEqual([accepted[0]]);
  });
});

describe('a run fails', () => {
  test.each(VERDICTS)('at %s and what is more severe', (failOn) => {
    const settled = settle(reportOf(VERDICTS.map((verdict) => ({ id: verdict, verdict, touches: [] }))), [], '2026-11-22', failOn);
    const expected = VERDICTS.slice(0, VERDICTS.indexOf(failOn) + 1);
    expect(failures(settled).map(({ verdict }) => verdict)).toEqual(expected);
    expect(isFailed(settled)).toBe(true);
  });

  test('for what it left behind, and for what was not verified only when that is asked for', () => {
    const fails = (failOn: Verdict, more: object) => isFailed(settle(reportOf([], more), [], '2026-11-22', failOn));
    const unverified = {
      coverage: [
        { verified: true, checks: [] },
        { verified: false, checks: [] },
      ],
    };
    for (const failOn of VERDICTS) {
      expect(fails(failOn, {})).toBe(false);
      expect(fails(failOn, { unfinished: ['createThing (id t7)'] })).toBe(true);
      expect(fails(failOn, unverified)).toBe(failOn === 'unverified');
    }
  });
});
