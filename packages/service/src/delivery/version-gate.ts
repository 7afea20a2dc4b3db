/** Instances of different versions share a database only while an upgrade is in progress. */
import type { RawBuilder } from 'kysely';

import { migrationsOf } from '../store/migrations/all.ts';
import type { Db } from '../store/store.ts';

/** The newest migration of this version, which names the version among the instances of a database. */
export function ownVersion(): string {
  return Object.keys(migrationsOf('postgres')).at(-1) ?? '';
}

/**
 * The reason why this instance must stop, if one of a newer version serves requests. Migrations only add, so until then this one goes on with the
 * tables of a newer version, also if that version never gets all of its migrations in.
 *
 * @param now Milliseconds by the database's clock.
 * @returns One line for the operator.
 */
export async function outdatedReason(db: Db, now: RawBuilder<number>): Promise<string | undefined> {
  const known = new Set<string | null>(Object.keys(migrationsOf('postgres')));
  const serving = await db
    .selectFrom('instances')
    .select('serves')
    .where('serves', 'is not', null)
    .where('lease_until', '>', now)
    .execute();
  const newer = serving.map(({ serves }) => serves).find((version) => !known.has(version));
  if (newer === undefined) return undefined;
  return `An instance of a newer version serves requests: it knows ${newer}, and this instance knows ${ownVersion()}. This instance stops soon.`;
}
