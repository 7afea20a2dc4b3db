import { expect, test } from 'vitest';

import { binaryGigabytes, cpuCourse, gigabytes, megabitsPerSecond, trafficCourse } from '../src/views/usage.ts';

function sample(at: string, cpu: number | null) {
  return { at, cpu, mem: null, disk: null, disk_read: null, disk_written: null, received: null, sent: null };
}

test('shows a gap where a sample is missing, and none where one is a little late', () => {
  const [times, cpu] = cpuCourse(
    [
      sample('2026-11-05T10:00:00.000Z', 5),
      sample('2026-11-05T10:05:00.000Z', null),
      sample('2026-11-05T10:15:00.000Z', 7),
      sample('2026-11-05T10:25:01.000Z', 8),
    ],
    300,
  );
  const start = Date.parse('2026-11-05T10:00:00.000Z') / 1000;
  expect(times.map((time) => time - start)).toEqual([0, 300, 900, 1_201, 1_501]);
  expect(cpu).toEqual([5, null, 7, null, 8]);
  expect(cpuCourse([], 300)).toEqual([[], []]);
});

test('has each day between the first and the last one, also those without traffic', () => {
  const days = [
    { day: '2026-10-31', received: 1e9, sent: 3e9, total: 4e9 },
    { day: '2026-11-02', received: 0, sent: 5e8, total: 5e8 },
  ];
  const [times, total, received] = trafficCourse(days);
  expect(times.map((time) => new Date(time * 1000).toISOString().slice(0, 10))).toEqual(['2026-10-31', '2026-11-01', '2026-11-02']);
  expect([total, received]).toEqual([
    [4, 0, 0.5],
    [1, 0, 0],
  ]);
  expect(trafficCourse([])).toEqual([[], [], []]);
});

test('writes amounts in units of people', () => {
  expect([gigabytes(1_234_567_890), binaryGigabytes(1024 ** 3 * 1.5), megabitsPerSecond(125_000)]).toEqual([
    '1.23 GB',
    '1.50 GB',
    '1.00 Mbit/s',
  ]);
  expect([binaryGigabytes(null), megabitsPerSecond(null)]).toEqual(['not measured', 'not measured']);
});
