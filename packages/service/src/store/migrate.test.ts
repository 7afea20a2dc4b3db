import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Client } from 'pg';
import { describe, expect, test } from 'vitest';

import { engines, newDatabase, newDirectory } from '../../test/engines.ts';
import { migrationsOf } from './migrations/all.ts';
import { moveStore } from './move/move.ts';
import { openPostgresStore } from './postgres/open.ts';
import { readVatRates } from './settings.ts';
import { openSqliteStore } from './sqlite/open.ts';
import type { Engine, Store } from './store.ts';

/** A store that the test can also open and change without the service. */
interface Place {
  readonly path: string;
  open(): Promise<Store>;
  /** Runs SQL and returns the names of the tables afterwards. */
  run(statements: string): Promise<readonly string[]>;
}

async function newPlace(engine: Engine): Promise<Place> {
  return engine === 'sqlite' ? newDirectoryPlace() : newDatabasePlace();
}

function newDirectoryPlace(): Place {
  const path = newDirectory();
  return {
    path,
    open: () => openSqliteStore(path),
    async run(statements) {
      const connection = new DatabaseSync(join(path, 'store.sqlite'));
      try {
        connection.exec(statements);
        const tables = connection.prepare("select name from sqlite_master where type = 'table' order by name").all();
        return tables.map(({ name }) => String(name));
      } finally {
        connection.close();
      }
    },
  };
}

async function newDatabasePlace(): Promise<Place> {
  const path = await newDatabase();
  return {
    path,
    open: () => openPostgresStore(path),
    async run(statements) {
      const client = new Client({ connectionString: path });
      await client.connect();
      try {
        await client.query(statements);
        const { rows } = await client.query<{ name: string }>(
          'select table_name as name from information_schema.tables where table_schema = current_schema() order by 1',
        );
        return rows.map(({ name }) => name);
      } finally {
        await client.end();
      }
    },
  };
}

const INSERT = 'insert into kysely_migration (name, timestamp) values';

/** The migrations of development versions, from the first to the last. */
const DEVELOPMENT = [
  `${INSERT} ('0001-initial', '')`,
  `${INSERT} ('0001-initial', ''), ('0002-charges', '')`,
  `${INSERT} ('0001-initial', ''), ('0008-vm-changes', ''), ('0009-turns', ''), ('0010-otp-attempts', ''), ('0011-vm-identifiers', '')`,
];

const DEVELOPMENT_TABLES = `
  create table kysely_migration (name varchar(255) primary key not null, timestamp varchar(255) not null);
  create table kysely_migration_lock (id varchar(255) primary key not null, is_locked integer default 0 not null);
  create table accounts (id text primary key not null);
  insert into accounts values ('kept');
`;

describe.each(engines)('on %s', (engine) => {
  test.each(DEVELOPMENT)('refuses a store of a development version and leaves it unchanged: %s', async (migrations) => {
    const place = await newPlace(engine);
    const before = await place.run(`${DEVELOPMENT_TABLES} ${migrations}`);
    const remedy =
      engine === 'sqlite' ? 'Delete the data directory, or name another one.' : 'Create a new database, and name it in DATABASE_URL.';
    const message = `A development version from before the first release wrote the store, and its data cannot be converted. ${remedy}`;
    // A second attempt has the same result, because the first one has released its files and connections.
    for (let attempt = 0; attempt < 2; attempt++) await expect(place.open()).rejects.toMatchObject({ name: 'StoreOpenError', message });
    expect(await place.run('')).toEqual(before);
  });

  test('refuses a store of a newer version', async () => {
    const place = await newPlace(engine);
    await (await place.open()).close();
    await place.run(`${INSERT} ('9999-later', '')`);
    await expect(place.open()).rejects.toThrow(
      `A newer version of the service wrote the store: it has the migration 9999-later. Start that version; this one knows ${Object.keys(migrationsOf(engine)).at(-1)}.`,
    );
  });

  test('upgrades the store of the first version: keys that may only read read no secrets, and no renewal holds credit yet', async () => {
    const place = await newPlace(engine);
    await (await place.open()).close();
    await place.run(`
      alter table api_keys drop column reads_secrets;
      alter table domains drop column hold;
      alter table api_keys drop column limit_id;
      alter table api_keys drop column allowed_networks;
      alter table api_keys drop column last_used;
      alter table api_keys drop column rotated;
      drop table spendings;
      drop table spending_limits;
      drop index audit_records_by_seq;
      alter table audit_records drop column seq;
      alter table audit_records drop column salt;
      alter table audit_records drop column content_hash;
      alter table audit_records drop column hash;
      drop table audit_chain;
      drop table failed_authentications;
      drop table confirmations;
      drop table payment_uses;
      drop table payments;
      alter table accounts drop column balance;
      alter table accounts drop column balance_credit;
      alter table invoices drop column paid;
      drop index documents_by_time;
      alter table issued_documents drop column vat_by_rate;
      alter table issued_documents add column vat_basis_points integer not null default 0;
      delete from kysely_migration where name <> '0001-initial';
      insert into accounts (id, name, credit_limit, unpaid, held, period_start, created) values ('a', 'A', 0, 0, 0, 0, 0);
      insert into api_keys (id, account_id, hash, label, access, created) values ('k', 'a', 'h', 'L', 'read', 0);
      insert into api_keys (id, account_id, hash, label, valid_until, created) values ('r', 'a', 'i', 'L', 5, 1);
    `);
    const store = await place.open();
    expect(await store.read((db) => db.selectFrom('domains').select('hold').execute())).toEqual([]);
    const keys = await store.read((db) =>
      db.selectFrom('api_keys').select(['id', 'access', 'reads_secrets', 'rotated']).orderBy('created').execute(),
    );
    await store.close();
    expect(keys).toEqual([
      { id: 'k', access: 'read', reads_secrets: 0, rotated: 0 },
      { id: 'r', access: 'full', reads_secrets: 0, rotated: 1 },
    ]);
  });

  test('upgrades documents with one VAT rate and rates without days, also in snapshots', async () => {
    const place = await newPlace(engine);
    await (await place.open()).close();
    const rates = '[{"basisPoints":1900,"validFrom":0},{"basisPoints":1600,"validFrom":1593554400000}]';
    const document = `'d', 'a', 'i', 'invoice', 'INV-00001', 1000, 190, 1900, 0, '{}'`;
    const row = JSON.stringify([{ id: 'd', net: 1000, vat: 190, vat_basis_points: 1900 }]);
    const settings = JSON.stringify([
      { name: 'vat_rates', value: rates },
      { name: 'other', value: '1' },
    ]);
    await place.run(`
      drop index documents_by_time;
      alter table issued_documents drop column vat_by_rate;
      alter table issued_documents add column vat_basis_points integer not null default 0;
      delete from kysely_migration where name >= '0008';
      insert into accounts (id, name, credit_limit, unpaid, held, period_start, created) values ('a', 'A', 0, 0, 0, 0, 0);
      insert into invoices (id, account_id, created, period_start, period_end, total, status) values ('i', 'a', 0, 0, 0, 1000, 'OPEN');
      insert into issued_documents (id, account_id, invoice_id, kind, number, net, vat, vat_basis_points, issued, content) values (${document});
      insert into settings (name, value) values ('vat_rates', '${rates}');
      insert into snapshots (name, taken) values ('s', 0);
      insert into snapshot_rows (snapshot, position, table_name, rows) values ('s', 0, 'issued_documents', '${row}'), ('s', 1, 'settings', '${settings}');
    `);
    const store = await place.open();
    const [one] = await store.read((db) => db.selectFrom('issued_documents').selectAll().execute());
    const sums = [{ basisPoints: 1900, net: 1000, vat: 190 }];
    expect([JSON.parse(one?.vat_by_rate ?? ''), Object.keys(one ?? {}).includes('vat_basis_points')]).toEqual([sums, false]);
    const dated = [
      { basisPoints: 1900, day: '1970-01-01', validFrom: -3_600_000 },
      { basisPoints: 1600, day: '2020-07-01', validFrom: 1_593_554_400_000 },
    ];
    expect(await store.read(readVatRates)).toEqual(dated);
    const pieces = await store.read((db) => db.selectFrom('snapshot_rows').select('rows').orderBy('position').execute());
    await store.close();
    expect(pieces.map(({ rows }) => JSON.parse(rows))).toEqual([
      [{ id: 'd', net: 1000, vat: 190, vat_by_rate: JSON.stringify(sums) }],
      [
        { name: 'vat_rates', value: JSON.stringify(dated) },
        { name: 'other', value: '1' },
      ],
    ]);
  });

  test('a migration that fails leaves no tables behind, and succeeds at the next start', async () => {
    const place = await newPlace(engine);
    // The last of the tables exists already, so everything before it is created first.
    await place.run('create table snapshot_rows (a integer)');
    await expect(place.open()).rejects.toThrow(/could not be brought up to date \(.*snapshot_rows.* already exists\)/);
    expect((await place.run('')).filter((name) => !name.startsWith('kysely_'))).toEqual(['snapshot_rows']);
    await place.run('drop table snapshot_rows');
    await (await place.open()).close();
    expect(await place.run('')).toContain('accounts');
  });
});

test('a move refuses an embedded store of a development version', async () => {
  const place = newDirectoryPlace();
  await place.run(`${DEVELOPMENT_TABLES} ${DEVELOPMENT[2]}`);
  await expect(moveStore({ from: place.path, to: await newDatabase() })).rejects.toThrow(
    /^A development version from before the first release/,
  );
});
