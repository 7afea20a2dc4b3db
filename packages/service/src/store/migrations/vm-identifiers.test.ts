import { DatabaseSync } from 'node:sqlite';

import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { engines, newDatabase } from '../../../test/engines.ts';
import { migrationsOf } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { kyselyOn } from '../sqlite/open.ts';
import type { Engine } from './table.ts';

test.each(engines)('%s: positions of an older store are kept, and stay when the row of their VM goes', async (engine) => {
  const db = await emptyDatabase(engine);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrationsOf(engine) } });
  expect((await migrator.migrateTo('0010-otp-attempts')).error).toBeUndefined();
  await sql`insert into accounts (id, name, credit_limit, unpaid, held, period_start, created) values ('a', 'a', 0, 0, 0, 0, 0)`.execute(
    db,
  );
  await sql`insert into os_images (name, displayname, username) values ('o', 'o', 'root')`.execute(db);
  await sql`
    insert into host_systems (name, displayname, datacenter_name, datacenter_displayname, datacenter_country, datacenter_city, processor, memory, nvme_hard_drives, ranges, prices, position)
    values ('h', 'h', 'd', 'd', 'd', 'd', 'p', 'm', 'n', '{}', '{}', 0)
  `.execute(db);
  await sql`
    insert into host_nodes (name, hostsystem, cores, used_cores, mem, used_mem, disk, used_disk, storage, used_storage) values ('n', 'h', 1, 0, 1, 0, 1, 0, 0, 0)
  `.execute(db);
  for (const [id, state] of [
    [10_000, 'removed'],
    [10_001, 'running'],
  ] as const)
    await sql`
      insert into vms (id, account_id, state, hostsystem, node, cores, mem, disk, os, ips, backup_slots, network_speed, hostname, default_ptr, monthly_price, price_basis, created)
      values (${id}, 'a', ${state}, 'h', 'n', 1, 1, 1, 'o', 1, 2, 1000, 'KVM', 'p', 0, 'STANDARD', 5)
    `.execute(db);
  await sql`
    insert into positions (vm_id, number, account_id, invoice_id, type, start, stop, monthly_price, hold)
    values (10000, 1, 'a', null, 'CREATE', 10, 20, 7, 3), (10000, 2, 'a', null, 'BILLINGRESTART', 20, 40, 8, 4), (10001, 1, 'a', null, 'CREATE', 30, null, 9, 5)
  `.execute(db);
  const before = await db.selectFrom('positions').selectAll().orderBy('vm_id').orderBy('number').execute();

  expect((await migrator.migrateToLatest()).error).toBeUndefined();
  const vms = await db.selectFrom('vms').select(['id', 'removed']).orderBy('id').execute();
  expect(vms.map(({ id, removed }) => [Number(id), removed === null ? null : Number(removed)])).toEqual([
    [10_000, 40_000],
    [10_001, null],
  ]);
  await db.deleteFrom('vms').where('id', '=', 10_000).execute();
  expect(await db.selectFrom('positions').selectAll().orderBy('vm_id').orderBy('number').execute()).toEqual(before);
  // What else the table was kept to still holds.
  const insert = (number: number, account: string, stop: number) =>
    sql`insert into positions values (10000, ${number}, ${account}, null, 'CREATE', 50, ${stop}, 1, 1)`.execute(db);
  await expect(insert(1, 'a', 60)).rejects.toThrow(/unique/i);
  await expect(insert(3, 'nobody', 60)).rejects.toThrow(/foreign key/i);
  await expect(insert(3, 'a', 49)).rejects.toThrow(/check/i);
  await insert(3, 'a', 60);
});

async function emptyDatabase(engine: Engine): Promise<Kysely<Schema>> {
  if (engine === 'sqlite') {
    const connection = new DatabaseSync(':memory:');
    connection.exec('PRAGMA foreign_keys = ON');
    return kyselyOn(connection);
  }
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: new Pool({ connectionString: await newDatabase() }) }) });
  onTestFinished(() => db.destroy());
  return db;
}
