/** A clock that moves only when a test advances it. The service uses it, and so do the clients that get it. */
export class TestClock {
  #now: number;

  /** @param start Milliseconds since 1970 UTC. */
  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  /** @param milliseconds The time by which the clock advances. */
  advance(milliseconds: number): void {
    if (!(milliseconds >= 0)) throw new RangeError(`The clock cannot be advanced by ${milliseconds} ms. Pass a number from 0.`);
    this.#now += Math.ceil(milliseconds);
  }

  /** @param iso An instant that is not before the present one. */
  advanceTo(iso: string): void {
    this.advance(Date.parse(iso) - this.#now);
  }

  /** Advances the clock instead of waiting, so that code with this clock takes no real time. */
  async sleep(milliseconds: number): Promise<void> {
    this.advance(milliseconds);
  }
}
