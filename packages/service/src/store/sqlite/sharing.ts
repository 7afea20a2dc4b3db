import { sql } from 'kysely';

import type { Sharing } from '../store.ts';

/** The store belongs to one process, whose units of work run one after another: nothing has to be claimed. */
export const sqliteSharing: Sharing = {
  severalNodes: false,
  now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  claim: (query) => query,
  freeze: async () => {},
};
