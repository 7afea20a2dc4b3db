/** The content of a store in a form that is the same on every engine. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import type { Store } from '../../src/index.ts';
import type { EventsTable } from '../../src/store/tables/events.ts';

/** The tables whose content differs between the engines. */
const ENGINE_SPECIFIC = new Set([
  // The identifiers of operator requests have the time of the machine's clock, and the chain hashes them.
  'audit_records',
  'audit_chain',
  // The times of migrations come from the machine's clock.
  'kysely_migration',
  'kysely_migration_lock',
  // Only PostgreSQL stores entries of the request log before it numbers them.
  'request_log_inbox',
  // PostgreSQL counts the events of all instances and keeps their leases by the machine's clock. SQLite has one process.
  'event_windows',
  // The version is random, and SQLite changes it once for each row.
  'catalogue_version',
  // Checks of ports run next to the rounds of jobs.
  'vm_monitors',
  // The zones and names that are not published yet.
  'zone_changes',
  'rdns_changes',
  // The events that are not in the feed yet. PostgreSQL writes their JSON with spaces.
  'event_inbox',
  // Each engine saves the clock at times of the machine's clock.
  'clock_mark',
  'instances',
]);

/** Columns of the request log that have times of the machine's clock. */
const MEASURED = new Set(['duration', 'feed']);

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

/** The identifier of an event in a logged response, or in a delivery there, that the feed no longer has. */
const DELETED_EVENT = new RegExp(String.raw`(?<=\{\\"id\\":\\"|\\"event_id\\":\\")${UUID.source}(?=\\",\\"type\\":)`, 'g');

/** The rows of each table as sorted JSON texts with sorted columns. */
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
      const compared = table === 'request_log' ? rows.map(withoutMeasured) : rows;
      state[table] = compared.map(canonicalRow);
    }
    const names = new Map((await db.selectFrom('events').select(['id', 'account_id', 'position']).execute()).map(nameOfEvent));
    const nameIn = (row: string) => row.replaceAll(UUID, (id) => names.get(id) ?? id).replaceAll(DELETED_EVENT, 'event');
    return Object.fromEntries(Object.entries(state).map(([table, rows]) => [table, rows.map(nameIn).toSorted()]));
  });
}

/**
 * Accounts enter their events at the same time, so the speed of the store decides which event gets which random identifier. Its position is the
 * same on each engine.
 */
function nameOfEvent({ id, account_id, position }: Pick<Selectable<EventsTable>, 'id' | 'account_id' | 'position'>): [string, string] {
  return [id, `event ${position} of ${account_id}`];
}

function withoutMeasured(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !MEASURED.has(name)));
}

function canonicalRow(row: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(row).toSorted(([one], [other]) => (one < other ? -1 : 1))));
}

/** The maximum number of differences in a message. */
const MAX_DIFFERENCES = 20;

/** Rows that only one of two states has. */
export function differencesOf(one: CanonicalState, other: CanonicalState): string[] {
  const only = (state: CanonicalState, than: CanonicalState, name: string) =>
    Object.entries(state).flatMap(([table, rows]) => {
      const known = new Set(than[table]);
      return rows.filter((row) => !known.has(row)).map((row) => `only ${name}: ${table} ${row}`);
    });
  return [...only(one, other, 'in the first'), ...only(other, one, 'in the second')].slice(0, MAX_DIFFERENCES);
}
