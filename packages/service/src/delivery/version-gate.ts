/** Instances of different versions share a database only while an upgrade is in progress. */
import { sql } from 'kysely';

import { migrationsOf } from '../store/migrations/all.ts';
import type { Db } from '../store/store.ts';

/**
 * The reason why this instance must stop, if a newer version has upgraded the database. Undefined if the tables are those of this version.
 *
 * @returns One line for the operator.
 */
export async function outdatedReason(db: Db): Promise<string | undefined> {
  const known = Object.keys(migrationsOf('postgres'));
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const unknown = rows.map(({ name }) => name).filter((name) => !known.includes(name));
  if (unknown.length === 0) return undefined;
  return `A newer version of the service has upgraded the database to ${unknown.at(-1)}, and this instance knows ${known.at(-1)}. It stops soon. Start the newer version in its place.`;
}
