/** Slows down whoever guesses keys or tokens: failures count against the address that they come from, on all nodes together. */
import type { Windows } from '../store/store.ts';
import { windowLimits } from './window-limit.ts';

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

export function guessing(windows: Windows, { what, failures, within }: GuessingLimit): Guessing {
  const countOne = windowLimits(windows);
  return { failed: (address) => countOne(`guesses ${what} ${address}`, { most: failures, within }) };
}
