/** The use of VMs, from counters that a hypervisor returns at some times. All numbers are integers: milliseconds and bytes. */
import { MS_PER_DAY } from './day.ts';

const COUNTERS = ['cpu_time', 'disk_read', 'disk_written', 'received', 'sent'] as const;
const RATES = ['disk_read', 'disk_written', 'received', 'sent'] as const;

/** Counters of a VM, or how much they have grown. Null if it is not known. */
export type Counters = Readonly<Record<(typeof COUNTERS)[number], number | null>>;

/** The counters of a VM at one time. */
export interface Measurement extends Counters {
  readonly at: number;
  /** The name of the run of the counters, which were 0 when it began. */
  readonly run: string;
  /** How long the run lasts, by the hypervisor. */
  readonly run_time: number;
}

/** How much the counters have grown since the measurement before. */
export interface Growth extends Counters {
  /** When it began. */
  readonly from: number;
  /** The time in which they grew, by the hypervisor, whose clock a sandbox does not advance. */
  readonly duration: number;
}

/**
 * @param before The newest measurement; undefined for the first one.
 * @param created When the VM was created. A VM that was adopted has counters of an earlier time, which do not count.
 */
export function growthOf(before: Measurement | undefined, now: Measurement, created: number): Growth {
  const base = baseOf(before, now, created);
  const same = inSameRun(before, now);
  const duration = now.run_time - (same?.run_time ?? 0);
  const from = same?.at ?? Math.max(before?.at ?? created, now.at - duration);
  const growth = counters((name) => {
    const [earlier, later] = [base[name], now[name]];
    if (earlier === null || later === null) return null;
    // A counter that has fallen has begun at 0 again, such as one of a guest that has booted.
    return later < earlier ? later : later - earlier;
  });
  return { ...growth, from: Math.min(now.at, from), duration };
}

/** The measurement from which the next growth is counted. A counter that was not measured keeps its last value in the run. */
export function nextBase(before: Measurement | undefined, now: Measurement, created: number): Measurement {
  const base = baseOf(before, now, created);
  return { at: now.at, run: now.run, run_time: now.run_time, ...counters((name) => now[name] ?? base[name]) };
}

function baseOf(before: Measurement | undefined, now: Measurement, created: number): Counters {
  const same = inSameRun(before, now);
  if (same) return same;
  // Another run has begun after the measurement before.
  const isWhole = before !== undefined || now.at - now.run_time >= created;
  return counters(() => (isWhole ? 0 : null));
}

/** The measurement before, if it is one of the same run. */
function inSameRun(before: Measurement | undefined, now: Measurement): Measurement | undefined {
  return before?.run === now.run && before.run_time <= now.run_time ? before : undefined;
}

function counters(of: (name: keyof Counters) => number | null): Counters {
  const [cpu_time = null, disk_read = null, disk_written = null, received = null, sent = null] = COUNTERS.map(of);
  return { cpu_time, disk_read, disk_written, received, sent };
}

/** Averages: bytes per second, and CPU in hundredths of a percent of all cores. */
export type Rates = Readonly<Record<(typeof RATES)[number] | 'cpu', number | null>>;

export function ratesOf(growth: Growth, cores: number): Rates {
  const { duration } = growth;
  function average(value: number | null, parts: number): number | null {
    return value === null || duration === 0 ? null : Math.round((value * parts) / duration);
  }
  const [disk_read = null, disk_written = null, received = null, sent = null] = RATES.map((name) => average(growth[name], 1_000));
  return { cpu: average(growth.cpu_time, 10_000 / cores), disk_read, disk_written, received, sent };
}

/**
 * Divides bytes among the days (UTC) of the time in which they were counted, by the share of each day in it. The sum is exact.
 *
 * @param from Milliseconds.
 * @param to Milliseconds, not before `from`.
 * @returns Bytes by the number of the day since 1970.
 */
export function byDay(bytes: number, from: number, to: number): ReadonlyMap<number, number> {
  const [first, last] = [dayNumberOf(from), dayNumberOf(to)];
  const days = new Map<number, number>();
  let given = 0;
  for (let day = first; day <= last; day++) {
    const end = Math.min((day + 1) * MS_PER_DAY, to);
    // Bytes times milliseconds exceed the integers of a number.
    const until = day === last ? bytes : Number((BigInt(bytes) * BigInt(end - from)) / BigInt(to - from));
    if (until > given) days.set(day, until - given);
    given = until;
  }
  return days;
}

/** The number of the day (UTC) since 1970 of an instant in milliseconds. */
export function dayNumberOf(instant: number): number {
  return Math.floor(instant / MS_PER_DAY);
}

/** The first day of the calendar month that is some months before that of an instant in milliseconds. */
export function firstDayOfMonth(instant: number, monthsBefore: number): number {
  const date = new Date(instant);
  return dayNumberOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - monthsBefore));
}

/** The bytes of an amount of traffic in GB, which are 10^9 bytes in networks. */
export function bytesOf(gigabytes: number): number {
  return gigabytes * 1_000_000_000;
}
