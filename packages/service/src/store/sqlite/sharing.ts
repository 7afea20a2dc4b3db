import { sql } from 'kysely';

import type { Sharing } from '../store.ts';
import { memoryWindows } from './windows.ts';

/** The store belongs to one process, whose transactions run one after another, so nothing has to be locked. */
export function sqliteSharing(): Sharing {
  return {
    hasInstances: false,
    now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
    windows: memoryWindows(),
    claim: (query) => query,
    freeze: async () => {},
  };
}
