/** The log of an account's past API requests (specification: "Request log item"). */
import type { Insertable } from 'kysely';

import type { RequestLogTable } from '../store/schema.ts';
import type { Db } from '../store/store.ts';

/** An entry before it has its number. */
export type LogEntry = Omit<Insertable<RequestLogTable>, 'number'>;

/** Appends an entry; it is durable when the unit of work is. */
export async function appendToLog(db: Db, entry: LogEntry): Promise<void> {
  const { newest } = await db
    .insertInto('request_counters')
    .values({ account_id: entry.account_id, newest: 1 })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet((counter) => ({ newest: counter('request_counters.newest', '+', 1) })),
    )
    .returning('newest')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('request_log')
    .values({ ...entry, number: newest })
    .execute();
}
