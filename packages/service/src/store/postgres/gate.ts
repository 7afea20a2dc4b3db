/**
 * The table that each transaction of the service locks first, and that a migration can lock against all of them. The migration then waits for no
 * transaction that waits for the migration. Nobody reads or writes it: it belongs to Kysely, which has an advisory lock on PostgreSQL.
 */
export const GATE = 'kysely_migration_lock';
