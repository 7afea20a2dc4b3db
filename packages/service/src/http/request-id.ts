import { v7 as uuidv7 } from 'uuid';

import type { Random } from '../rules/random.ts';

/** @param now Milliseconds. */
export function newRequestId(now: number, random: Random): string {
  return uuidv7({ msecs: now, random: random.bytes(16) });
}
