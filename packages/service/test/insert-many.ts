import type { Store } from '../src/index.ts';
import type { Db } from '../src/store/store.ts';

const AT_A_TIME = 200;

/** Inserts rows in several statements. One statement would take too long on a busy machine, so that PostgreSQL would stop it. */
export async function insertMany(store: Store, db: Db, table: Parameters<Store['insertRows']>[1], rows: readonly object[]): Promise<void> {
  for (let first = 0; first < rows.length; first += AT_A_TIME)
    await store.insertRows(db, table, Object.keys(rows[0] ?? {}), JSON.stringify(rows.slice(first, first + AT_A_TIME)));
}
