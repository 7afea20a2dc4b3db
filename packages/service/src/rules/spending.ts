/** Spending limits of API keys (not shown in the specification; our choice). */

import { utcDay } from './day.ts';

/** The days and months of a spending limit, UTC. */
export interface SpendingPeriods {
  /** Such as 2026-11-23. */
  readonly day: string;
  /** Such as 2026-11. */
  readonly month: string;
}

/** @param now Milliseconds. */
export function spendingPeriodsOf(now: number): SpendingPeriods {
  const day = utcDay(now);
  return { day, month: day.slice(0, 7) };
}
