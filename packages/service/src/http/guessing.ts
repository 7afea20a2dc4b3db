import type { Windows } from '../store/store.ts';
import { createWindowCounter } from './window-limit.ts';

/** How many failed attempts an address has. */
export interface GuessingLimit {
  /** The kind of secret. Each kind is counted separately. */
  readonly what: string;
  readonly failures: number;
  readonly windowMs: number;
}

/**
 * Counts a failed authentication against the address that it came from, across all instances.
 *
 * @returns Whole seconds that the address must wait, or undefined while it has attempts left.
 */
export type CountFailure = (address: string) => Promise<number | undefined>;

/** Slows down clients that guess keys or tokens. */
export function createGuessingLimiter(windows: Windows, { what, failures, windowMs }: GuessingLimit): CountFailure {
  const count = createWindowCounter(windows);
  return (address) => count(`guesses ${what} ${address}`, { max: failures, windowMs });
}
