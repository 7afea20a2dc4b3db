import { sql } from 'kysely';

import type { Claim, Lock, TextTable, Sharing } from '../store.ts';
import { memoryWindows } from './windows.ts';

/** Transactions run one after another, so nothing has to be locked. */
export const claimNothing: Claim = (query) => query;

export const textTable: TextTable = (list) => sql`(select key as position, value from json_each(${list}))`;

export const lockNothing: Lock = async () => {};

/** The store belongs to one process. */
export function sqliteSharing(): Sharing {
  return {
    hasInstances: false,
    now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
    windows: memoryWindows(),
    claim: claimNothing,
    lock: lockNothing,
    freeze: async () => {},
  };
}
