/** The use of a VM in units for people, and as the data of charts. */
import type { VmTrafficDay, VmUsageSample } from '@reseller/operator-client';

const DAY_S = 86_400;

/** GB as networks count them. */
export function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

/** GB as memory and disks count them. */
export function binaryGigabytes(bytes: number | null): string {
  return bytes === null ? 'not measured' : `${(bytes / 1024 ** 3).toFixed(2)} GB`;
}

export function megabitsPerSecond(bytesPerSecond: number | null): string {
  return bytesPerSecond === null ? 'not measured' : `${((bytesPerSecond * 8) / 1e6).toFixed(2)} Mbit/s`;
}

/** Percent of all cores, by time in seconds. A time without a sample is a gap. */
export function cpuCourse(samples: readonly VmUsageSample[], interval: number): [number[], (number | null)[]] {
  const points = samples.flatMap(({ at, cpu }, index) => {
    const time = Date.parse(at) / 1000;
    const before = samples[index - 1];
    const isGap = before !== undefined && time - Date.parse(before.at) / 1000 > 2 * interval;
    return isGap
      ? [
          { time: time - interval, cpu: null },
          { time, cpu },
        ]
      : [{ time, cpu }];
  });
  return [points.map(({ time }) => time), points.map(({ cpu }) => cpu)];
}

/** GB of each day up to the last one: all, and the received part of it. A day without traffic has 0. */
export function trafficCourse(days: readonly VmTrafficDay[]): [number[], number[], number[]] {
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return [[], [], []];
  const known = new Map(days.map((day) => [day.day, day]));
  const start = Date.parse(first.day) / 1000;
  const times = Array.from({ length: (Date.parse(last.day) / 1000 - start) / DAY_S + 1 }, (_, index) => start + index * DAY_S);
  const shown = times.map((time) => known.get(new Date(time * 1000).toISOString().slice(0, 10)));
  return [times, shown.map((day) => (day?.total ?? 0) / 1e9), shown.map((day) => (day?.received ?? 0) / 1e9)];
}
