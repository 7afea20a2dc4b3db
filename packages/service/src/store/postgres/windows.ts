import { sql } from 'kysely';

import type { Db, Windows } from '../store.ts';
import { unavailableOr } from './errors.ts';
import { databaseNow } from './now.ts';

/**
 * Counts in a table that all nodes share: one round trip for each event, which waits for no disk
 * since the table is not logged.
 */
export function tableWindows(db: Db): Windows {
  return {
    async count(name, length) {
      try {
        const { rows } = await sql<{ count: number; ends_in: number }>`
          insert into event_windows as kept (name, ends, count) values (${name}, ${databaseNow} + ${length}::bigint, 1)
          on conflict (name) do update set
            count = case when kept.ends <= excluded.ends - ${length}::bigint then 1 else kept.count + 1 end,
            ends = case when kept.ends <= excluded.ends - ${length}::bigint then excluded.ends else kept.ends end
          returning count, ends - ${databaseNow} as ends_in`.execute(db);
        const [row] = rows;
        if (!row) throw new Error('An event was counted, and the database did not say how many there are.');
        return { count: row.count, endsIn: Math.max(row.ends_in, 1) };
      } catch (error) {
        throw unavailableOr(error);
      }
    },
    async forget() {
      await sql`delete from event_windows where ends <= ${databaseNow}`.execute(db);
    },
  };
}
