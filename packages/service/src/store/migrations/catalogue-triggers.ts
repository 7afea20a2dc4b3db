import { sql } from 'kysely';
import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** A table of the catalogue. */
interface CatalogueTable {
  readonly table: keyof Schema;
  /** The columns whose changes count. Default: all. */
  readonly columns?: readonly string[];
}

/** Purchases change the used volume of a sale, so only a sale that is sold out, or no longer is, changes the catalogue. */
const SOURCES: readonly CatalogueTable[] = [
  { table: 'host_systems' },
  { table: 'host_system_prices' },
  { table: 'os_images' },
  { table: 'ip_pools' },
  { table: 'sale_prices' },
  { table: 'settings' },
  { table: 'sales', columns: ['account_id', 'title', 'start', 'stop', 'upgradable', 'max_volume', 'ended', 'descriptions'] },
];
const SOLD_OUT_CHANGES = sql`(new.used_volume >= new.max_volume) <> (old.used_volume >= old.max_volume)`;
function setNewVersion(random: string) {
  return sql.raw(
    `insert into catalogue_version (id, version) values (1, ${random}) on conflict (id) do update set version = excluded.version`,
  );
}

/** Creates the triggers that change the version of the catalogue, so that no writer can forget it. */
export async function createCatalogueTriggers(db: Kysely<Schema>, engine: Engine): Promise<void> {
  if (engine === 'postgres') {
    await sql`
      create function change_catalogue() returns trigger language plpgsql as $$
      begin
        ${setNewVersion('gen_random_uuid()::text')};
        return null;
      end
      $$
    `.execute(db);
  }
  // SQLite has triggers for each row only, and one event for each trigger.
  const action =
    engine === 'sqlite'
      ? sql`begin ${setNewVersion('hex(randomblob(16))')}; end`
      : sql`for each statement execute function change_catalogue()`;
  for (const { table, columns } of SOURCES) {
    const update = columns ? `update of ${columns.join(', ')}` : 'update';
    for (const [name, event] of [
      ['inserted', 'insert'],
      ['updated', update],
      ['deleted', 'delete'],
    ] as const)
      await sql`create trigger ${sql.ref(`${table}_${name}`)} after ${sql.raw(event)} on ${sql.table(table)} ${action}`.execute(db);
  }
  await sql`
    create trigger sales_sold_out after update of used_volume on sales for each row when (${SOLD_OUT_CHANGES})
    ${engine === 'sqlite' ? action : sql`execute function change_catalogue()`}
  `.execute(db);
}
