/** Slows down whoever guesses keys or tokens: failures count against the address that they come from, on all nodes together. */
import type { Windows } from '../store/store.ts';

/** How many failures an address has, in what time. */
export interface GuessingLimit {
  /** What is guessed, so that others are counted apart. */
  readonly what: string;
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
  failed(address: string): Promise<number | undefined>;
}

/** Addresses remembered at the most. */
const MOST_REMEMBERED = 10_000;

/** An address that is known to have no failures left is not counted any more, so whoever goes on guessing costs no more than the look-up. */
export function guessing(windows: Windows, { what, failures, within }: GuessingLimit): Guessing {
  const slowed = new Map<string, number>();
  return {
    async failed(address) {
      const now = performance.now();
      const until = slowed.get(address);
      if (until !== undefined && until > now) return Math.ceil((until - now) / 1000);
      slowed.delete(address);
      const { count, endsIn } = await windows.count(`guesses ${what} ${address}`, within);
      if (count <= failures) return undefined;
      if (slowed.size >= MOST_REMEMBERED) slowed.clear();
      slowed.set(address, now + endsIn);
      return Math.ceil(endsIn / 1000);
    },
  };
}
