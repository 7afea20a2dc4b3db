/**
 * Copies, moves and migrations of stores, for commands. They are in a module of their own, because loading the service takes longer than
 * most commands.
 */
export { MoveDiffersError, moveStore } from './store/move/move.ts';
export type { Move } from './store/move/move.ts';
export type { Compared } from './store/move/figures.ts';
export { backUpSqliteStore, restoreSqliteStore } from './store/sqlite/backup.ts';
export type { StoreCopy } from './store/sqlite/backup.ts';
export { lockingSessionsOf, migratePostgres, pendingOfPostgres } from './store/postgres/migrate.ts';
export { migrateSqlite, pendingOfSqlite } from './store/sqlite/migrate.ts';
export { isClockSynchronized } from './ports/system.ts';
export { lastBackupIn } from './store/backups.ts';
export { StoreOpenError } from './store/store.ts';
