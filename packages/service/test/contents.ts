/** The contents that a refused request must not change. */
import { sql } from 'kysely';

import type { Store } from '../src/index.ts';
import type { Db } from '../src/store/store.ts';
import type { TestService } from './harness.ts';

/** Refused requests are logged, and refused port calls use up their fencing token. */
const CHANGED_BY_REFUSALS: ReadonlySet<string> = new Set(['request_log', 'fencing_tokens']);

/** The contents of the store and of the ports, without what refused requests change. */
export async function contentsOf({ store, hypervisor, registrar, fleet }: TestService): Promise<Readonly<Record<string, unknown>>> {
  return {
    ...(await tablesOf(store)),
    hypervisor: [...hypervisor.vms],
    registrar: [...registrar.domains],
    fleet: [...fleet.servers, ...fleet.retired],
  };
}

/** The tables with a row that contains a text, in upper or lower case. */
export function tablesWith(store: Store, text: string): Promise<readonly string[]> {
  return store.read(async (db) => {
    const found: string[] = [];
    for (const name of await tableNames(store, db)) {
      const rows = await db.withTables<Record<string, Row>>().selectFrom(name).selectAll().execute();
      if (JSON.stringify(rows).toLowerCase().includes(text.toLowerCase())) found.push(name);
    }
    return found.toSorted();
  });
}

type Row = Readonly<Record<string, unknown>>;

/** Rows by table, in an order that does not depend on the engine. */
function tablesOf(store: Store): Promise<Readonly<Record<string, readonly Row[]>>> {
  return store.read(async (db) => {
    const tables: Record<string, readonly Row[]> = {};
    for (const name of await tableNames(store, db)) {
      if (CHANGED_BY_REFUSALS.has(name)) continue;
      const rows = db.withTables<Record<string, Row>>().selectFrom(name).selectAll();
      // The many free addresses change only when they get a VM.
      const changing = name === 'ip_addresses' ? rows.where('vm_id', 'is not', null) : rows;
      const found = await changing.execute();
      // The last use of a key is stored about once a minute, whatever the request. A text is sealed differently each time, and its hash is not.
      tables[name] = sorted(found.map(({ last_used: _lastUsed, sealed_text: _sealedText, ...row }) => row));
    }
    return tables;
  });
}

/** The introspection of Kysely also reads all columns, which takes longer than reading the rows. */
async function tableNames({ sharing }: Store, db: Db): Promise<string[]> {
  const names = sharing.hasInstances
    ? sql<{ name: string }>`select tablename as name from pg_tables where schemaname = current_schema() order by name`
    : sql<{ name: string }>`select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name`;
  return (await names.execute(db)).rows.map(({ name }) => name);
}

function sorted(rows: readonly Row[]): readonly Row[] {
  if (rows.length < 2) return rows;
  return rows
    .map((row) => ({ row, text: JSON.stringify(row) }))
    .toSorted((one, other) => (one.text < other.text ? -1 : 1))
    .map(({ row }) => row);
}
