import { sql } from 'kysely';

/** Milliseconds by the database's clock. Of the moment at which the query is, not of the begin of its transaction: it may have waited. */
export const databaseNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
