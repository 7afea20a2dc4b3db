/** All data of a sandbox, table by table. */
import { sql } from 'kysely';

import type { Schema } from '../store/schema.ts';
import type { Db, Sharing, Store } from '../store/store.ts';
import { tuningOf } from '../store/tuning.ts';

/** A row of either engine. */
export type DumpedRow = Readonly<Record<string, string | number | null>>;

/**
 * The tables in a snapshot: all except the snapshots themselves, the tokens of the team and of third parties, the audit, links to
 * consoles, rendered invoices, the version of the catalogue, the zones and names to publish, and the tables of running instances and their clocks.
 */
type SnapshotTable = Exclude<
  keyof Schema,
  | 'snapshots'
  | 'snapshot_rows'
  | 'operator_tokens'
  | 'audit_records'
  | 'audit_chain'
  | 'failed_authentications'
  | 'confirmations'
  | 'ended_sessions'
  | 'vm_consoles'
  | 'verifiers'
  | 'otp_attempts'
  | 'identity'
  | 'instances'
  | 'clock_mark'
  | 'fencing_tokens'
  | 'zone_changes'
  | 'rdns_changes'
  | 'event_inbox'
  | 'catalogue_version'
>;

/** A table has a higher number than those that its foreign keys refer to. A new table without an entry here is a compile error. */
const places: Readonly<Record<SnapshotTable, number>> = {
  settings: 0,
  faults: 0,
  accounts: 0,
  os_images: 0,
  host_systems: 0,
  host_system_prices: 1,
  tlds: 0,
  tld_prices: 1,
  spending_limits: 1,
  spendings: 2,
  api_keys: 2,
  billing_profiles: 1,
  host_nodes: 1,
  ip_pools: 1,
  sales: 1,
  sale_prices: 2,
  vms: 2,
  ssh_keys: 1,
  ip_addresses: 3,
  rdns_entries: 4,
  vm_backups: 3,
  vm_user_data: 3,
  vm_counters: 3,
  vm_usage: 3,
  vm_traffic: 3,
  vm_monitors: 3,
  invoices: 3,
  issued_documents: 4,
  document_parts: 5,
  payments: 4,
  payment_uses: 5,
  document_series: 0,
  logos: 0,
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
  failed_jobs: 1,
  request_log: 1,
  request_log_bodies: 1,
  event_feeds: 1,
  events: 1,
  webhooks: 1,
  webhook_secrets: 2,
  webhook_deliveries: 2,
};

/** A table comes after those that its foreign keys refer to. */
const inOrder: readonly string[] = Object.entries(places)
  .toSorted(([, one], [, other]) => one - other)
  .map(([name]) => name);

/** Locks all tables against writes until the transaction ends, so that a snapshot is consistent. */
export function freeze(db: Db, sharing: Sharing): Promise<void> {
  return sharing.freeze(db, inOrder);
}

/** Passes the rows of every table to `take`, in batches. */
export async function dump(db: Db, take: (table: string, rows: readonly DumpedRow[]) => Promise<void>): Promise<void> {
  const batch = tuningOf(db).statementRows;
  for (const table of inOrder) {
    const { rows } = await sql<DumpedRow>`select * from ${sql.table(table)}`.execute(db);
    for (let from = 0; from < rows.length; from += batch) await take(table, rows.slice(from, from + batch));
  }
}

/** Empties every table that snapshots contain, and the counts of failed verifications. */
export async function empty(db: Db): Promise<void> {
  // The attempts refer to codes that no longer exist, and to a clock that is set back.
  await db.deleteFrom('otp_attempts').execute();
  for (const table of inOrder.toReversed()) await sql`delete from ${sql.table(table)}`.execute(db);
  await forgetNoted(db);
}

/** Deletes the events that triggers have noted since the last ones came into the feed: nothing happened where a store is emptied or restored. */
export async function forgetNoted(db: Db): Promise<void> {
  await db.deleteFrom('event_inbox').execute();
}

/**
 * Inserts rows of `dump`.
 *
 * @param rows A JSON array.
 */
export async function insert(db: Db, { insertRows, requestLog }: Pick<Store, 'insertRows' | 'requestLog'>, table: string, rows: string) {
  const parsed: readonly DumpedRow[] = JSON.parse(rows);
  const [first] = parsed;
  if (!first || !inOrder.includes(table)) return;
  if (table === 'request_log') await requestLog.prepareMonths(db, [...new Set(parsed.map(({ month }) => Number(month)))]);
  await insertRows(db, table, Object.keys(first), rows);
}
