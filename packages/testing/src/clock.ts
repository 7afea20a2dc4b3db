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

  /** @param milliseconds How far to go on. */
  advance(milliseconds: number): void {
    if (!(milliseconds >= 0)) throw new RangeError(`The clock cannot be advanced by ${milliseconds} ms. Pass a number from 0.`);
    this.#now += Math.ceil(milliseconds);
  }

  /** @param iso An instant that is not before the present one. */
  advanceTo(iso: string): void {
    this.advance(Date.parse(iso) - this.#now);
  }

  /** What waits by this clock waits no real time: the clock goes on instead. */
  async sleep(milliseconds: number): Promise<void> {
    this.advance(milliseconds);
  }
}
