/**
 * Makes a process a newer version of the service, with two more migrations: `node --import newer-version.ts main.ts`. One of them changes the
 * tables that every purchase, credit note and export locks, in one transaction. The other one takes NEWER_SECONDS, without a lock of their tables.
 */
import { registerHooks } from 'node:module';

const MODULE = '/store/migrations/all.ts';
const NEWER = `
export function migrationsOf(engine) {
  const tables = ['positions', 'audit_records', 'accounts', 'domains', 'api_keys', 'vms', 'invoices', 'issued_documents', 'ip_addresses',
    'host_nodes', 'charges', 'idempotency_keys', 'reservations', 'request_log'];
  const columns = {
    async up(db) {
      for (const table of tables)
        await db.schema.alterTable(table).addColumn('added_later', 'bigint', (column) => column.notNull().defaultTo(0)).execute();
      await db.schema.createIndex('added_later_index').on('positions').column('added_later').execute();
    },
  };
  const add = {
    async up(db) {
      await db.schema.createTable('added_later').addColumn('id', 'integer').execute();
      const seconds = Number(process.env['NEWER_SECONDS'] ?? 0);
      if (seconds > 0) await db.selectNoFrom((eb) => eb.fn('pg_sleep', [eb.val(seconds)]).as('slept')).execute();
    },
  };
  const first = process.env['NEWER_FIRST'] === 'added' ? { '9997-added': add } : {};
  const last = process.env['NEWER_FIRST'] === 'added' ? {} : { '9999-newer': add };
  return { ...releasedMigrationsOf(engine), ...first, '9998-columns': columns, ...last };
}`;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(MODULE)) return loaded;
    const source = String(loaded.source);
    const renamed = source.replace('export function migrationsOf(', 'function releasedMigrationsOf(');
    if (renamed === source) throw new Error(`${MODULE} has no function migrationsOf.`);
    return { ...loaded, source: renamed + NEWER };
  },
});
