/** A clock that moves only when a test advances it. The service uses it, and so do the clients that get it. */
export class TestClock {
  #now: number;
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  readonly #quiet: () => Promise<unknown>;

  /**
   * @param start Milliseconds since 1970 UTC.
   * @param quiet Resolves when the requests in progress have their responses, so that waiting ends none of them.
   */
  constructor(start: number, quiet: () => Promise<unknown> = async () => {}) {
    this.#now = start;
    this.#quiet = quiet;
  }

  now(): number {
    return this.#now;
  }

  /** @param milliseconds The time by which the clock advances. */
  advance(milliseconds: number): void {
    if (!(milliseconds >= 0)) throw new RangeError(`The clock cannot be advanced by ${milliseconds} ms. Pass a number from 0.`);
    const end = this.#now + Math.ceil(milliseconds);
    for (const timer of [...this.#timers].toSorted((one, other) => one.at - other.at)) {
      if (timer.at > end || !this.#timers.delete(timer)) continue;
      this.#now = timer.at;
      timer.callback();
    }
    this.#now = end;
  }

  /** @param iso An instant that is not before the present one. */
  advanceTo(iso: string): void {
    this.advance(Date.parse(iso) - this.#now);
  }

  /** Advances the clock instead of waiting, so that code with this clock takes no real time. */
  async sleep(milliseconds: number): Promise<void> {
    await this.#quiet();
    this.advance(milliseconds);
    await this.#quiet();
  }

  /** Calls back when the clock has advanced by this much. Returns what cancels it. */
  setTimer(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.ceil(milliseconds), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Advances to the next timer. Returns false if there is none. */
  async sleepUntilNextTimer(): Promise<boolean> {
    await this.#quiet();
    const next = Math.min(...[...this.#timers].map(({ at }) => at));
    if (!Number.isFinite(next)) return false;
    await this.sleep(next - this.#now);
    return true;
  }
}
