import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { byDay, dayNumberOf, firstDayOfMonth, growthOf, nextBase, ratesOf } from './usage.ts';
import type { Measurement } from './usage.ts';

const DAY = 86_400_000;
const CREATED = Date.UTC(2026, 10, 5, 10, 0, 17);

function measured(after: number, given: Partial<Measurement> = {}): Measurement {
  const counters = { cpu_time: 0, disk_read: 0, disk_written: 0, received: 0, sent: 0 };
  return { at: CREATED + after, run: 'first', run_time: after, ...counters, ...given };
}

describe('the growth of counters', () => {
  test('counts a new VM from its start', () => {
    const now = measured(60_000, { run_time: 50_000, received: 7, sent: 900 });
    expect(growthOf(undefined, now, CREATED)).toMatchObject({ received: 7, sent: 900, from: CREATED + 10_000, duration: 50_000 });
  });

  test('counts a run that began with the VM, and nothing of one that began a millisecond before it', () => {
    const now = measured(60_000, { received: 7 });
    expect(growthOf(undefined, now, CREATED).received).toBe(7);
    expect(growthOf(undefined, { ...now, run_time: 60_001 }, CREATED).received).toBeNull();
  });

  test('begins with the second measurement of a VM that was adopted', () => {
    const first = measured(60_000, { run_time: 10 * DAY, received: 1_000_000 });
    const base = nextBase(undefined, first, CREATED);
    const second = measured(360_000, { run_time: 10 * DAY + 300_000, received: 1_000_500 });
    expect(growthOf(base, second, CREATED)).toMatchObject({ received: 500, from: first.at, duration: 300_000 });
  });

  test('is the difference within a run, also when the clock of the service has jumped', () => {
    const first = measured(60_000, { sent: 100, cpu_time: 40 });
    const second = measured(60_000 + 30 * DAY, { run_time: 360_000, sent: 350, cpu_time: 70 });
    const growth = growthOf(first, second, CREATED);
    expect(growth).toMatchObject({ sent: 250, cpu_time: 30, from: first.at, duration: 300_000 });
  });

  test('counts another run from its beginning', () => {
    const first = measured(60_000, { sent: 100 });
    const second = measured(360_000, { run: 'second', run_time: 40_000, sent: 350 });
    expect(growthOf(first, second, CREATED)).toMatchObject({ sent: 350, from: second.at - 40_000, duration: 40_000 });
  });

  test('takes a run that lasts less than before for another one', () => {
    const first = measured(60_000, { sent: 100 });
    expect(growthOf(first, measured(360_000, { run_time: 59_999, sent: 350 }), CREATED).sent).toBe(350);
    expect(growthOf(first, measured(360_000, { run_time: 60_000, sent: 350 }), CREATED).sent).toBe(250);
  });

  test('counts a counter that has fallen from 0, and the others as before', () => {
    const first = measured(60_000, { sent: 100, disk_read: 10 });
    expect(growthOf(first, measured(360_000, { sent: 99, disk_read: 15 }), CREATED)).toMatchObject({ sent: 99, disk_read: 5 });
    expect(growthOf(first, measured(360_000, { sent: 100, disk_read: 15 }), CREATED)).toMatchObject({ sent: 0, disk_read: 5 });
  });

  test('makes up for a counter that was not measured for a time', () => {
    const first = nextBase(undefined, measured(60_000, { received: 40 }), CREATED);
    const silent = measured(360_000, { received: null });
    expect(growthOf(first, silent, CREATED).received).toBeNull();
    const base = nextBase(first, silent, CREATED);
    expect(growthOf(base, measured(660_000, { received: 100 }), CREATED).received).toBe(60);
    // A guest whose agent was not there at first.
    const late = nextBase(undefined, silent, CREATED);
    expect(growthOf(late, measured(660_000, { received: 100 }), CREATED).received).toBe(100);
  });

  test('the sum of all growths is the last value of the counter, however often it is measured', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ wait: fc.integer({ min: 0, max: 5 * DAY }), bytes: fc.nat(2 ** 40) }), { minLength: 1, maxLength: 50 }),
        (steps) => {
          let [before, at, bytes, sum]: [Measurement | undefined, number, bigint, bigint] = [undefined, 0, 0n, 0n];
          for (const step of steps) {
            at += step.wait;
            bytes += BigInt(step.bytes);
            const now = measured(at, { sent: Number(bytes) });
            sum += BigInt(growthOf(before, now, CREATED).sent ?? 0);
            before = nextBase(before, now, CREATED);
          }
          expect(sum).toBe(bytes);
        },
      ),
    );
  });
});

describe('rates', () => {
  test('are averages per second, and percent of all cores in hundredths', () => {
    const growth = growthOf(measured(0), measured(300_000, { cpu_time: 60_000, received: 1_500, sent: 450 }), CREATED);
    expect(ratesOf(growth, 1)).toEqual({ cpu: 2_000, disk_read: 0, disk_written: 0, received: 5, sent: 2 });
    expect(ratesOf(growth, 4).cpu).toBe(500);
  });

  test('are unknown without time and without counters', () => {
    const none = { cpu: null, disk_read: null, disk_written: null, received: null, sent: null };
    expect(ratesOf(growthOf(measured(5), measured(5), CREATED), 1)).toEqual(none);
    const unknown = { cpu_time: null, disk_read: null, disk_written: null, received: null, sent: null };
    expect(ratesOf(growthOf(measured(0), measured(300_000, unknown), CREATED), 1)).toEqual(none);
  });
});

describe('bytes by day', () => {
  test('belong to each day by its share of the time', () => {
    const midnight = 20_000 * DAY;
    expect([...byDay(400, midnight - 100_000, midnight + 300_000)]).toEqual([
      [19_999, 100],
      [20_000, 300],
    ]);
    expect([...byDay(400, midnight - 300_000, midnight)]).toEqual([[19_999, 400]]);
    expect([...byDay(400, midnight, midnight + 300_000)]).toEqual([[20_000, 400]]);
    expect([...byDay(400, midnight, midnight)]).toEqual([[20_000, 400]]);
    expect([...byDay(0, midnight - 1, midnight + DAY)]).toEqual([]);
  });

  test('add up to all bytes, and no day differs by a byte or more from its share', () => {
    const instant = fc.integer({ min: 0, max: 400 * DAY });
    fc.assert(
      fc.property(fc.maxSafeNat(), instant, instant, (bytes, one, other) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const days = byDay(bytes, from, to);
        expect([...days.values()].reduce((sum, part) => sum + BigInt(part), 0n)).toBe(BigInt(bytes));
        for (const [day, part] of days) {
          const length = Math.min((day + 1) * DAY, to) - Math.max(day * DAY, from);
          if (to > from) expect(Math.abs(part - (bytes / (to - from)) * length)).toBeLessThanOrEqual(1 + bytes * 1e-12);
          expect(day >= dayNumberOf(from) && day <= dayNumberOf(to)).toBe(true);
        }
      }),
    );
  });
});

test('finds the first day of a month, also across years', () => {
  const at = Date.UTC(2026, 0, 31, 23, 59, 59);
  expect([0, 1, 12].map((months) => new Date(firstDayOfMonth(at, months) * DAY).toISOString().slice(0, 10))).toEqual([
    '2026-01-01',
    '2025-12-01',
    '2025-01-01',
  ]);
});
