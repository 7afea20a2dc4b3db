import { sql } from 'kysely';

/** Everything that a store holds, in a form that is the same for the same content on every engine. */
import type { Store } from '../../src/index.ts';

/** What must differ between the engines, and nothing else. */
const ENGINE_SPECIFIC = new Set([
  // When migrations ran, by the machine's clock.
  'kysely_migration',
  'kysely_migration_lock',
  // Only PostgreSQL has entries of the request log without a number.
  'request_log_inbox',
  // PostgreSQL counts events for all instances together and keeps their leases, by the machine's clock; SQLite has one process.
  'event_windows',
  // Random, and SQLite changes it once for each row.
  'catalogue_version',
  // Each engine marks the clock at moments of the machine's clock.
  'clock_mark',
  'instances',
]);

/** Rows by table, each as JSON with its columns in order of their names, in order of the text. */
export type CanonicalState = Readonly<Record<string, readonly string[]>>;

export async function canonicalState(store: Store): Promise<CanonicalState> {
  await store.requestLog.numberAll();
  return store.read(async (db) => {
    const tables = (await db.introspection.getTables())
      .map(({ name }) => name)
      .filter((name) => !ENGINE_SPECIFIC.has(name) && !/^request_log_\d/.test(name));
    const state: Record<string, string[]> = {};
    for (const table of tables.toSorted()) {
      const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(db);
      state[table] = rows.map(canonicalRow).toSorted();
    }
    return state;
  });
}

function canonicalRow(row: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(row).toSorted(([one], [other]) => (one < other ? -1 : 1))));
}

/** The maximum number of differences in a message. */
const TOLD = 20;

/** Rows that only one of two states has. */
export function differencesOf(one: CanonicalState, other: CanonicalState): string[] {
  const only = (state: CanonicalState, than: CanonicalState, name: string) =>
    Object.entries(state).flatMap(([table, rows]) => {
      const known = new Set(than[table]);
      return rows.filter((row) => !known.has(row)).map((row) => `only ${name}: ${table} ${row}`);
    });
  return [...only(one, other, 'in the first'), ...only(other, one, 'in the second')].slice(0, TOLD);
}
