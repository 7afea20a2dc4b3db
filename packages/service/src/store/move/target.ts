/** The PostgreSQL database that a store is moved to. All work is one transaction on one connection. */
import { Kysely, PostgresDialect } from 'kysely';
import { types } from 'pg';
import type { ClientBase } from 'pg';

import { migrate } from '../migrate.ts';
import { migrationsOf } from '../migrations/all.ts';
import { assertWritable, connectionsTo } from '../postgres/connections.ts';
import { openFailure } from '../postgres/errors.ts';
import { createPartitions } from '../postgres/request-log.ts';
import type { Schema } from '../schema.ts';
import { StoreOpenError } from '../store.ts';
import type { MovedRow, Value } from './figures.ts';

export interface Target {
  /** Columns by table. A table comes after those that its foreign keys refer to. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /** Called before the rows of a table are inserted. */
  prepare(table: string): Promise<void>;
  insert(table: string, rows: readonly MovedRow[]): Promise<void>;
  /** All rows of a table, read in batches. */
  rows(table: string): AsyncIterable<MovedRow>;
  /** Commits. */
  commit(): Promise<void>;
  /** Rolls back unless committed, and closes the connection. */
  close(): Promise<void>;
}

/**
 * Tables that are not moved: entries of the request log without a number, the event counts, which may be lost, and the version of the
 * catalogue and the changes of zones and reverse names, which triggers add.
 */
const OWN_TABLES = new Set(['request_log_inbox', 'event_windows', 'catalogue_version', 'zone_changes', 'rdns_changes']);
/** Triggers note events about the rows that are copied. It is copied last, in their place. */
const NOTED_EVENTS = 'event_inbox';
const FETCH_ROWS = 1_000;
const INT8 = types.builtins.INT8;

/**
 * Begins a transaction and creates the tables in an empty database. A failed move leaves no tables behind. Instances that start on the
 * database in the meantime wait.
 *
 * @throws StoreOpenError if the database cannot be used or is not empty.
 */
export async function openTarget(url: string): Promise<Target> {
  const pool = connectionsTo(url, {
    max: 1,
    application_name: 'reseller-move',
    onConnect: assertWritable,
    types: { getTypeParser: (oid, format) => (oid === INT8 ? BigInt : types.getTypeParser(oid, format)) },
  });
  try {
    const client = await pool.connect();
    // A connection that breaks also rejects its statement. Without a listener the event would end the process.
    client.on('error', () => {});
    // Kysely runs the migrations. All other statements share its connection and transaction.
    const db = new Kysely<Schema>({
      dialect: new PostgresDialect({ pool: { options: {}, connect: async () => client, end: () => pool.end() } }),
    });
    const transaction = await db.startTransaction().execute();
    async function close(): Promise<void> {
      if (!transaction.isCommitted)
        await transaction
          .rollback()
          .execute()
          .catch(() => {});
      await db.destroy();
    }
    try {
      await assertEmpty(client);
      await migrate(transaction, 'postgres', (migration) => migration());
      const tables = await tablesOf(client);
      await client.query(`lock table ${tables.map(quotedIdentifier).join(', ')} in access exclusive mode`);
      await assertEmpty(client);
      const inOrder = await insertionOrder(client, tables);
      const columns = new Map(inOrder.map(({ table, columns: all }) => [table, all]));
      const { insert, rows } = targetOf(client, columns);
      return {
        tables: columns,
        async prepare(table) {
          if (table === NOTED_EVENTS) await client.query(`delete from ${NOTED_EVENTS}`);
        },
        async insert(table, batch) {
          if (table === 'request_log') await createPartitions(transaction, monthsOf(batch));
          await insert(table, batch);
        },
        rows,
        async commit() {
          // Later entries come after those that were moved.
          await client.query(
            "select setval('request_log_feed', feed) from (select max(feed) as feed from request_log) as newest where feed > 0",
          );
          await client.query(
            `select setval(pg_get_serial_sequence('${NOTED_EVENTS}', 'id'), id) from (select max(id) as id from ${NOTED_EVENTS}) as newest where id > 0`,
          );
          await transaction.commit().execute();
        },
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    await pool.end();
    throw openFailure(error, url);
  }
}

function monthsOf(rows: readonly MovedRow[]): number[] {
  return [...new Set(rows.map(({ month }) => Number(month)))];
}

function targetOf(client: ClientBase, tables: ReadonlyMap<string, readonly string[]>): Pick<Target, 'insert' | 'rows'> {
  return {
    async insert(table, rows) {
      const columns = (tables.get(table) ?? []).map(quotedIdentifier).join(', ');
      // A single parameter for any number of rows. PostgreSQL accepts integers as strings of digits.
      const text = JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
      const statement = `insert into ${quotedIdentifier(table)} (${columns}) select ${columns} from json_populate_recordset(null::${quotedIdentifier(table)}, $1)`;
      await client.query(statement, [text]);
    },
    async *rows(table) {
      await client.query(`declare read_back cursor for select * from ${quotedIdentifier(table)}`);
      for (;;) {
        const { rows } = await client.query<Record<string, unknown>>(`fetch ${FETCH_ROWS} from read_back`);
        if (rows.length === 0) break;
        for (const row of rows) yield Object.fromEntries(Object.entries(row).map(([column, value]) => [column, postgresValueOf(value)]));
      }
      await client.query('close read_back');
    },
  };
}

/** Accepts a database without tables, or with the tables of this version and no rows. */
async function assertEmpty(client: ClientBase): Promise<void> {
  const tables = await queryNames(
    client,
    `select table_schema || '.' || table_name as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE' order by 1`,
  );
  if (tables.length === 0) return;
  const [{ exists } = { exists: false }] = (
    await client.query<{ exists: boolean }>("select to_regclass('kysely_migration') is not null as exists")
  ).rows;
  const executed = exists ? await queryNames(client, 'select name from kysely_migration order by name') : [];
  if (executed.join() !== Object.keys(migrationsOf('postgres')).join()) {
    throw new StoreOpenError(
      `The database is not empty: it has the table ${tables[0]}, and this version of the service did not create it. Name a new, empty database.`,
    );
  }
  for (const table of [...(await tablesOf(client)), ...OWN_TABLES]) {
    const { rowCount } = await client.query(`select 1 from ${quotedIdentifier(table)} limit 1`);
    if (rowCount === 0) continue;
    throw new StoreOpenError(`The database is not empty: its table ${table} has rows. Name a new, empty database.`);
  }
}

async function tablesOf(client: ClientBase): Promise<string[]> {
  const tables = await queryNames(
    client,
    `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  return tables.filter((table) => !OWN_TABLES.has(table) && !table.startsWith('kysely_'));
}

interface TargetTable {
  readonly table: string;
  readonly columns: readonly string[];
}

/** The tables, each after those that its foreign keys refer to. */
async function insertionOrder(client: ClientBase, tables: readonly string[]): Promise<TargetTable[]> {
  const { rows: references } = await client.query<{ table: string; target: string }>(
    `select conrelid::regclass::text as table, confrelid::regclass::text as target from pg_constraint
     where contype = 'f' and conrelid <> confrelid`,
  );
  const ordered: TargetTable[] = [];
  const remaining = new Set(tables);
  while (remaining.size > 0) {
    const free = [...remaining].filter(
      (table) => !references.some((reference) => reference.table === table && remaining.has(reference.target)),
    );
    if (free.length === 0) throw new Error(`The tables ${[...remaining].join(', ')} have circular foreign keys.`);
    for (const table of free.toSorted()) {
      remaining.delete(table);
      const columns = await queryNames(
        client,
        'select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = $1',
        table,
      );
      ordered.push({ table, columns });
    }
  }
  return ordered.toSorted((one, other) => Number(one.table === NOTED_EVENTS) - Number(other.table === NOTED_EVENTS));
}

async function queryNames(client: ClientBase, statement: string, ...parameters: string[]): Promise<string[]> {
  return (await client.query<{ name: string }>(statement, parameters)).rows.map(({ name }) => name);
}

function quotedIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function postgresValueOf(value: unknown): Value {
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value;
  throw new TypeError(`The database returned a ${typeof value}, which is neither text nor an integer.`);
}
