import { v7 as uuidv7 } from 'uuid';

import type { Random } from '../rules/random.ts';

/**
 * A UUID of version 7 from the service's own clock and random numbers.
 *
 * @param now Milliseconds.
 */
export function requestIdOf(now: number, random: Random): string {
  return uuidv7({ msecs: now, random: random.bytes(16) });
}
