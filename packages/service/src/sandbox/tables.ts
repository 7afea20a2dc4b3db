/** All that a sandbox holds, table by table. */
import { sql } from 'kysely';

import type { Schema } from '../store/schema.ts';
import type { Db, Sharing, Transaction } from '../store/store.ts';

/** A row as the engines give it. */
export type Row = Readonly<Record<string, string | number | null>>;

/**
 * What a snapshot keeps: everything except snapshots themselves, the third parties, which are no
 * part of any test, and what the nodes and the infrastructure know.
 */
type Kept = Exclude<keyof Schema, 'snapshots' | 'snapshot_rows' | 'verifiers' | 'otp_attempts' | 'identity' | 'nodes' | 'turns'>;

/** Total over the tables: one that is added does not compile without its place. What refers to others has a higher number. */
const places: Readonly<Record<Kept, number>> = {
  settings: 0,
  faults: 0,
  accounts: 0,
  os_images: 0,
  host_systems: 0,
  tlds: 0,
  api_keys: 1,
  host_nodes: 1,
  ip_pools: 1,
  sales: 1,
  sale_prices: 2,
  vms: 2,
  ip_addresses: 3,
  invoices: 3,
  positions: 4,
  charges: 4,
  dedicated_servers: 1,
  dedicated_addresses: 2,
  handles: 1,
  domains: 2,
  dns_records: 3,
  otps: 1,
  idempotency_keys: 1,
  reservations: 1,
  request_log: 1,
};

/** In the order in which rows can be inserted. */
const inOrder: readonly string[] = Object.entries(places)
  .toSorted(([, one], [, other]) => one - other)
  .map(([name]) => name);

/** Rows of one statement at the most. */
const BATCH_SIZE = 200;

/** Has nobody else write to any table until the unit of work ends: what it sees and leaves is the state of one instant. */
export function freeze(db: Db, sharing: Sharing): Promise<void> {
  return sharing.freeze(db, inOrder);
}

/** Gives the rows of every table, piece by piece. */
export async function dump(db: Db, take: (table: string, rows: readonly Row[]) => Promise<void>): Promise<void> {
  for (const table of inOrder) {
    const { rows } = await sql<Row>`select * from ${sql.table(table)}`.execute(db);
    for (let from = 0; from < rows.length; from += BATCH_SIZE) await take(table, rows.slice(from, from + BATCH_SIZE));
  }
}

/** Empties every table that a snapshot keeps, and forgets failed attempts to verify codes. */
export async function empty({ db, logRewritten }: Transaction): Promise<void> {
  // They are of codes, and by a clock, that are gone.
  await db.deleteFrom('otp_attempts').execute();
  await sql`delete from request_log`.execute(db);
  await logRewritten();
  for (const table of inOrder.toReversed()) await sql`delete from ${sql.table(table)}`.execute(db);
}

/** Inserts rows as `dump` gave them. */
export async function insert(db: Db, table: string, rows: readonly Row[]): Promise<void> {
  const [first] = rows;
  if (!first || !inOrder.includes(table)) return;
  const columns = Object.keys(first);
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`);
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))}) values ${sql.join(values)}`.execute(db);
}
