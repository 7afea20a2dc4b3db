import { sql } from 'kysely';

import type { Store, Windows } from '../store.ts';
import { databaseNow } from './now.ts';

/** Counts in a table that all instances share. An event takes one round trip and no disk write, because the table is unlogged. */
export function tableWindows(run: Store['read']): Windows {
  return {
    async count(kind, name, length) {
      const { rows } = await run((db) =>
        sql<{ count: number; ends_in: number }>`
          insert into event_windows as kept (name, ends, count) values (${`${kind} ${name}`}, ${databaseNow} + ${length}::bigint, 1)
          on conflict (name) do update set
            count = case when kept.ends <= excluded.ends - ${length}::bigint then 1 else kept.count + 1 end,
            ends = case when kept.ends <= excluded.ends - ${length}::bigint then excluded.ends else kept.ends end
          returning count, ends - ${databaseNow} as ends_in`.execute(db),
      );
      const [row] = rows;
      if (!row) throw new Error('The database counted an event but did not return the count.');
      return { count: row.count, endsIn: Math.max(row.ends_in, 1) };
    },
    async deleteExpired() {
      await run((db) => sql`delete from event_windows where ends <= ${databaseNow}`.execute(db));
    },
  };
}
