import type { Clock } from '../../src/ports/system.ts';

/** An instant within an odd second, in a month of 30 days. Round instants would hide faults of rounding. */
export const START = Date.UTC(2026, 10, 10, 12, 3, 17, 389);

/** A clock that stands still until a test advances it. */
export class TestClock implements Clock {
  #now = START;
  now(): number {
    return this.#now;
  }
  /** @param milliseconds Milliseconds to advance. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
  /** @param iso An instant that is not before the current one. */
  advanceTo(iso: string): void {
    this.#now = Date.parse(iso);
  }
}
