import type { Clock } from '../../src/ports/system.ts';
import type { Dice } from './seeded-random.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

/** A clock that moves only when the simulation advances it, and never goes back. */
export class VirtualClock implements Clock {
  /** An instant within an odd second, in a month of 30 days. */
  #now = Date.UTC(2026, 10, 10, 11, 37, 41, 257);
  now(): number {
    return this.#now;
  }
  /** Whole seconds since 1970, as billing counts. */
  seconds(): number {
    return Math.floor(this.#now / SECOND);
  }
  /** @param instant In milliseconds. An earlier instant has no effect. */
  advanceTo(instant: number): void {
    this.#now = Math.max(this.#now, instant);
  }
}

/** The first second of the month (UTC) of an instant in seconds. */
export function monthOf(instant: number): number {
  const date = new Date(instant * SECOND);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / SECOND;
}

/** The first second of the next month, from the first second of a month. */
export function monthAfter(month: number): number {
  return monthOf(month + (31 * DAY) / SECOND);
}

/** The same day and time in a later year. The 29th of February becomes the 28th in years without it. */
export function anniversary(instant: number, years: number): number {
  const date = new Date(instant * SECOND);
  const year = date.getUTCFullYear() + years;
  const isLeapDay = date.getUTCMonth() === 1 && date.getUTCDate() === 29;
  const isLeapYear = new Date(Date.UTC(year, 1, 29)).getUTCDate() === 29;
  return date.setUTCFullYear(year, date.getUTCMonth(), isLeapDay && !isLeapYear ? 28 : date.getUTCDate()) / SECOND;
}

/**
 * The next time of the clock in milliseconds: from the same second to months ahead, and often just before, at or just after the end of a
 * month or a scheduled job.
 *
 * @param due The time of the next scheduled job or price change in seconds; undefined if there is none.
 */
export function nextInstant(dice: Dice, now: number, due: number | undefined): number {
  const around = (instant: number): number => instant * SECOND + dice.pick([-1000, -1, 0, 0, 0, 1, 999, 1000]);
  const ways = [
    { weight: 5, to: () => now + dice.integer(0, 2500) },
    { weight: 6, to: () => now + dice.integer(0, 2 * HOUR) },
    { weight: 6, to: () => now + dice.integer(0, 6 * DAY) },
    { weight: 5, to: () => around(monthAfter(monthOf(Math.floor(now / SECOND)))) },
    { weight: 4, to: () => (due === undefined ? now + HOUR : around(due)) },
    { weight: 2, to: () => now + dice.integer(0, 100 * DAY) },
  ];
  return dice.weighted(ways).to();
}
