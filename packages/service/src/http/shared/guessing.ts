import type { CounterKind, Windows } from '../../store/store.ts';
import { clientNetworkOf } from './client-address.ts';
import { createWindowCounter } from './window-limit.ts';

/** How many failed attempts a client may make. */
export interface GuessingLimit {
  /** Each kind of secret is counted separately. */
  readonly kind: CounterKind;
  readonly failures: number;
  readonly windowMs: number;
}

/**
 * Counts a failed authentication against the address that it came from, across all instances. All addresses of an IPv6 /64 count as one.
 *
 * @returns Whole seconds that the address must wait, or undefined while it has attempts left.
 */
export type CountFailure = (address: string) => Promise<number | undefined>;

/** Slows down clients that guess keys or tokens. */
export function createGuessingLimiter(windows: Windows, { kind, failures, windowMs }: GuessingLimit): CountFailure {
  const count = createWindowCounter(windows, kind);
  return (address) => count(clientNetworkOf(address), { max: failures, windowMs });
}
