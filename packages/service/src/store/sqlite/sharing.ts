import { sql } from 'kysely';

import type { Sharing } from '../store.ts';
import { memoryWindows } from './windows.ts';

/** The store belongs to one process, whose units of work run one after another: nothing has to be claimed. */
export function sqliteSharing(): Sharing {
  return {
    severalNodes: false,
    now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
    windows: memoryWindows(),
    claim: (query) => query,
    freeze: async () => {},
  };
}
