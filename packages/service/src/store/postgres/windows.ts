import { sql } from 'kysely';

import { exactRate } from '../rate.ts';
import type { Store, Windows } from '../store.ts';
import { databaseNow } from './now.ts';

/** Counts in a table that all instances share. An event takes one round trip and no disk write, because the table is unlogged. */
export function tableWindows(run: Store['read']): Windows {
  return {
    async take(name, rate) {
      const { interval, length } = exactRate(rate);
      const key = `rate ${name}`;
      // The columns have the time at which the rate is full again: milliseconds, and microseconds beyond them.
      const full = sql`(greatest(kept.ends * 1000 + kept.count, excluded.ends * 1000 + excluded.count - ${interval}::bigint) + ${interval}::bigint)`;
      const { rows } = await run((db) =>
        sql<{ full_in: number }>`
          insert into event_windows as kept (name, ends, count)
          select ${key}, ${databaseNow} + ${interval}::bigint / 1000, ${interval}::bigint % 1000
          on conflict (name) do update set ends = ${full} / 1000, count = ${full} % 1000
          where ${full} - (excluded.ends * 1000 + excluded.count - ${interval}::bigint) <= ${length}::bigint
          returning ends * 1000 + count - ${databaseNow} * 1000 as full_in`.execute(db),
      );
      const [taken] = rows;
      if (taken) return { isAllowed: true, fullIn: Math.max(0, taken.full_in) / 1000 };
      const refused = await run((db) =>
        sql<{
          full_in: number;
        }>`select ends * 1000 + count - ${databaseNow} * 1000 as full_in from event_windows where name = ${key}`.execute(db),
      );
      return { isAllowed: false, fullIn: Math.max(0, refused.rows[0]?.full_in ?? 0) / 1000 };
    },
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
