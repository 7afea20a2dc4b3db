/** Slows down whoever guesses keys or tokens: failures count against the address that they come from. */

/** How many failures an address has, in what time. */
export interface GuessingLimit {
  readonly failures: number;
  /** Milliseconds. */
  readonly within: number;
}

/** Counts failed authentication. */
export interface Guessing {
  /**
   * Counts a failure.
   *
   * @returns Whole seconds for which the address is to wait; undefined while it has failures left.
   */
  failed(address: string): number | undefined;
}

/** Addresses remembered at the most. */
const MOST_REMEMBERED = 10_000;

/**
 * A count in the memory of this process: what it holds back is load and noise, since keys are far too long to be guessed.
 *
 * @param now Milliseconds of a clock that never goes back.
 */
export function guessing({ failures, within }: GuessingLimit, now: () => number = () => performance.now()): Guessing {
  const counts = new Map<string, { count: number; readonly until: number }>();
  return {
    failed(address) {
      const at = now();
      const known = counts.get(address);
      if (known && known.until > at) {
        known.count++;
        return known.count > failures ? Math.ceil((known.until - at) / 1000) : undefined;
      }
      if (counts.size >= MOST_REMEMBERED) counts.clear();
      counts.set(address, { count: 1, until: at + within });
      return undefined;
    },
  };
}
