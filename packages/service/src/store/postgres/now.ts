import { sql } from 'kysely';

/** Milliseconds by the database's clock, at the time of the query. The transaction may have begun much earlier, and have waited since. */
export const databaseNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
