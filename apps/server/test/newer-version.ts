/** Makes a process a newer version of the service, with one more migration: `node --import newer-version.ts main.ts`. */
import { registerHooks } from 'node:module';

const MODULE = '/store/migrations/all.ts';
const NEWER = `
export function migrationsOf(engine) {
  const add = { async up(db) { await db.schema.createTable('added_later').addColumn('id', 'integer').execute(); } };
  return { ...releasedMigrationsOf(engine), '9999-newer': add };
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
