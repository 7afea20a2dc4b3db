/** The course of a running invoice over its month, for the chart. Only here are amounts floats. */
import type { AccountCurrentInvoice, CurrentPosition } from '@reseller/operator-client';

const DAY_S = 86_400;
const MONTH_S = 30 * DAY_S;
/** With more positions, the chart has a point for each day only. */
const MAX_STEPS = 200;

/** Points in seconds, the amount until now, and the expected amount afterwards. */
export interface Course {
  readonly times: number[];
  readonly actual: (number | null)[];
  readonly expected: (number | null)[];
}

type Month = Pick<AccountCurrentInvoice, 'period_start' | 'period_end' | 'positions' | 'estimated_total'>;

/** @param now Seconds, by the clock of the service. */
export function courseOf({ period_start, period_end, positions, estimated_total }: Month, now: number): Course {
  const [start, end] = [secondsOf(period_start), secondsOf(period_end)];
  const days = Array.from({ length: Math.ceil((end - start) / DAY_S) + 1 }, (_, day) => Math.min(start + day * DAY_S, end));
  const steps =
    positions.length > MAX_STEPS ? [] : positions.flatMap((position) => [secondsOf(position.start) - 1, secondsOf(position.start)]);
  // The renewals until the end are in the estimate and have no position yet, so they are a step at the end.
  const inside = [...steps, now, end - 1].map((time) => Math.min(Math.max(time, start), end));
  const times = [...new Set([...days, ...inside])].toSorted((one, other) => one - other);
  const amounts = times.map((time) => positions.reduce((total, position) => total + amountAt(position, time), 0));
  return {
    times,
    actual: times.map((time, index) => (time <= now ? (amounts[index] ?? 0) : null)),
    expected: times.map((time, index) => (time < now ? null : time === end ? Number(estimated_total) : (amounts[index] ?? 0))),
  };
}

function amountAt({ start, stop, monthly_price, total }: CurrentPosition, time: number): number {
  const from = secondsOf(start);
  if (time < from) return 0;
  if (monthly_price === null) return Number(total);
  const until = stop === null ? time : Math.min(time, secondsOf(stop));
  return (Number(monthly_price) * (until - from)) / MONTH_S;
}

function secondsOf(instant: string): number {
  return Date.parse(instant) / 1000;
}
