/** Exports all data of an account. */
import { setTimeout as sleep } from 'node:timers/promises';

import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

import type { Schema } from '../../store/schema.ts';
import type { Db, Store } from '../../store/store.ts';
import { tuningOf } from '../../store/tuning.ts';
import { inChunks, inTurns, nextTurn } from '../../store/turns.ts';
import { readLog } from './request-log.ts';
import type { NumberedLogEntry } from './request-log.ts';

/** Which rows of a table belong to an account. */
interface AccountRows {
  where(accountId: string): RawBuilder<boolean>;
  /** Columns with secrets, which are not exported. */
  readonly without?: readonly string[];
  /** The columns of an index that begins with the account, if it has another order than the key. Nobody is served while many rows are sorted. */
  readonly order?: readonly string[];
  /** Whether a row can be long, so that each is read in a turn of its own. */
  readonly isLong?: boolean;
}

/** A table with so many rows that they are read in pages, while the export is sent. It has no column with secrets. */
interface PagedRows {
  /** The column of the account, or of its `owners`. Within one owner, `by` is unique, positive and increases. An index has both columns. */
  readonly within: string;
  readonly by: string;
  /** A table whose rows belong to the account. */
  readonly owners?: 'webhooks';
}

function ofAccount(without: readonly string[] = []): AccountRows {
  return { where: (id) => sql<boolean>`account_id = ${id}`, without };
}

/** Rows that refer to a row of the account in another table. */
function through(column: string, table: keyof Schema, key: string): AccountRows {
  return { where: (id) => sql<boolean>`${sql.ref(column)} in (select ${sql.ref(key)} from ${sql.table(table)} where account_id = ${id})` };
}

/**
 * The rows of an account in each table. `log` is the request log, which is read in parts. Null for a table without rows of accounts. A new
 * table without an entry here is a compile error.
 */
export const accountRows: Readonly<Record<keyof Schema, AccountRows | PagedRows | 'log' | null>> = {
  accounts: { where: (id) => sql<boolean>`id = ${id}` },
  billing_profiles: ofAccount(),
  api_keys: ofAccount(['hash']),
  spending_limits: ofAccount(),
  spendings: through('limit_id', 'spending_limits', 'id'),
  otps: ofAccount(['hash']),
  otp_attempts: ofAccount(),
  handles: ofAccount(),
  vms: ofAccount(),
  ssh_keys: ofAccount(),
  vm_backups: through('vm_id', 'vms', 'id'),
  vm_user_data: { ...through('vm_id', 'vms', 'id'), without: ['sealed_text'] },
  vm_counters: null,
  vm_usage: through('vm_id', 'vms', 'id'),
  vm_traffic: through('vm_id', 'vms', 'id'),
  vm_consoles: ofAccount(['hash']),
  vm_monitors: through('vm_id', 'vms', 'id'),
  rdns_entries: through('vm_id', 'vms', 'id'),
  ip_pools: ofAccount(),
  ip_addresses: through('vm_id', 'vms', 'id'),
  domains: ofAccount(['sealed_authcode']),
  dns_records: through('domain', 'domains', 'name'),
  dedicated_servers: {
    where: (id) => sql<boolean>`(account_id = ${id} or offered_to = ${id})`,
    without: ['sealed_password'],
  },
  dedicated_addresses: through('server_id', 'dedicated_servers', 'id'),
  sales: ofAccount(),
  sale_prices: through('sale_id', 'sales', 'id'),
  invoices: ofAccount(),
  issued_documents: { ...ofAccount(), isLong: true },
  document_parts: { ...ofAccount(), isLong: true },
  payments: ofAccount(),
  payment_uses: through('payment_id', 'payments', 'id'),
  positions: { ...ofAccount(), order: ['account_id', 'invoice_id', 'vm_id', 'number'] },
  charges: ofAccount(),
  event_inbox: ofAccount(),
  event_feeds: ofAccount(),
  events: { within: 'account_id', by: 'position' },
  webhooks: ofAccount(),
  webhook_secrets: { ...through('webhook_id', 'webhooks', 'id'), without: ['sealed_secret'] },
  webhook_deliveries: { within: 'webhook_id', by: 'number', owners: 'webhooks' },
  reservations: ofAccount(['key_hash']),
  failed_jobs: ofAccount(),
  idempotency_keys: ofAccount(['key_hash', 'fingerprint', 'response']),
  request_log: 'log',
  // Part of the request log.
  request_log_bodies: null,
  // The provider's own data.
  os_images: null,
  host_systems: null,
  host_system_prices: null,
  host_nodes: null,
  tlds: null,
  tld_prices: null,
  document_series: null,
  logos: null,
  verifiers: null,
  operator_tokens: null,
  // Its records name the operator who changed an account. `GET /audit` lists them.
  audit_records: null,
  audit_chain: null,
  failed_authentications: null,
  confirmations: null,
  ended_sessions: null,
  settings: null,
  catalogue_version: null,
  zone_changes: null,
  rdns_changes: null,
  identity: null,
  instances: null,
  clock_mark: null,
  fencing_tokens: null,
  faults: null,
  snapshots: null,
  snapshot_rows: null,
};

type Row = Record<string, unknown>;

/**
 * The export as parts of a JSON text, so that events, deliveries and the request log are never in memory as a whole. The other tables are read
 * in one moment, before the first part.
 *
 * @param about The members of the export before `tables`.
 */
export async function exportAccount(
  store: Store,
  accountId: string,
  about: Readonly<Record<string, string>>,
): Promise<AsyncIterable<Buffer | string>> {
  const tables = await store.readLong(async (db) => {
    const found: (Buffer | string)[] = [];
    for (const [table, rows] of Object.entries(accountRows)) {
      if (rows === null || rows === 'log' || 'by' in rows) continue;
      found.push(`"${table}":[`, ...(await rowsAsJson(db, table, rows, accountId)), '],');
      await nextTurn();
    }
    return found;
  });
  return exportedText(store, accountId, [`${JSON.stringify(about).slice(0, -'}'.length)},"tables":{`, ...tables]);
}

/** @param tables The parts of the text before the tables that are read in pages. */
async function* exportedText(store: Store, accountId: string, tables: readonly (Buffer | string)[]): AsyncGenerator<Buffer | string> {
  yield* tables;
  for (const [table, rows] of Object.entries(accountRows)) {
    if (rows === null || rows === 'log' || !('by' in rows)) continue;
    yield `"${table}":[`;
    yield* joined(pagesOf(store, table, rows, accountId));
    yield '],';
  }
  yield '"request_log":[';
  yield* joined(pagesOfLog(store, accountId));
  yield ']}}';
}

/** The pages as JSON, separated by commas. After each page, it rests as long as the page has taken, so that half of the time is left to others. */
async function* joined(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  let separator = '';
  let begun = performance.now();
  for await (const page of pages) {
    const text = separator + page.map((row) => JSON.stringify(row)).join(',');
    const taken = performance.now() - begun;
    yield text;
    await sleep(taken);
    separator = ',';
    begun = performance.now();
  }
}

async function* pagesOf(store: Store, table: string, { within, by, owners }: PagedRows, accountId: string): AsyncGenerator<Row[]> {
  const found =
    owners && (await store.read((db) => db.selectFrom(owners).select('id').where('account_id', '=', accountId).orderBy('id').execute()));
  for (const owner of found?.map(({ id }) => id) ?? [accountId]) {
    let last = 0;
    for (;;) {
      const { rows } = await store.read((db) =>
        sql<Row>`
          select * from ${sql.table(table)} where ${sql.ref(within)} = ${owner} and ${sql.ref(by)} > ${last}
          order by ${sql.ref(by)} limit ${sql.lit(store.tuning.exportPage)}`.execute(db),
      );
      if (rows.length === 0) break;
      yield rows;
      last = Number(rows.at(-1)?.[by]);
    }
  }
}

async function* pagesOfLog(store: Store, accountId: string): AsyncGenerator<NumberedLogEntry[]> {
  let before: number | undefined;
  do {
    const entries = await store.commit(({ db }) =>
      readLog(db, store.requestLog, { accountId, limit: store.tuning.exportPage, ...(before === undefined ? {} : { before }) }),
    );
    if (entries.length > 0) yield entries;
    before = entries.at(-1)?.number;
  } while (before !== undefined);
}

/** The rows as chunks of JSON, separated by commas. */
async function rowsAsJson(
  db: Db,
  table: string,
  { where, without = [], order, isLong = false }: AccountRows,
  accountId: string,
): Promise<readonly Buffer[]> {
  const rows = db
    .selectFrom(sql<Row>`${sql.table(table)}`.as('rows'))
    .selectAll()
    .where(where(accountId))
    // The keys of all tables are among the first three columns. PostgreSQL returns rows without an order as they lie on the disk.
    .orderBy(order === undefined ? sql`1, 2, 3` : sql.join(order.map((column) => sql.ref(column))));
  // In the heap, each collection of garbage would copy all that is kept, and nobody is served meanwhile.
  const chunks = inChunks((text) => Buffer.from(text));
  let separator = '';
  await inTurns(rows.stream(isLong ? 1 : tuningOf(db).streamedRows), (row) => {
    for (const column of without) delete row[column];
    chunks.add(`${separator}${JSON.stringify(row)}`);
    separator = ',';
  });
  return chunks.all();
}
