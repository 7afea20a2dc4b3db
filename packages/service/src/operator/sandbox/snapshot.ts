import type { Selectable } from 'kysely';

import type { Snapshot } from '../../generated/operator/types.gen.ts';
import { disownReservations } from '../../operations/reservation.ts';
import { readSettings } from '../../store/settings.ts';
import type { SnapshotsTable } from '../../store/operator-schema.ts';
import type { Db } from '../../store/store.ts';
import type { ReadOperation, ServiceOperation, StoreOperation } from '../operation.ts';
import { beyond, inOrder, pageOf, rowsOf } from '../paging.ts';
import type { Order } from '../paging.ts';
import { found, notFound } from '../problem.ts';
import { instant } from '../shown.ts';
import { shownClock } from './clock.ts';
import { dump, empty, insert } from './tables.ts';
import type { Row } from './tables.ts';

const order: Order = { columns: { name: 'text' }, direction: 'asc' };

/** GET /sandbox/snapshots */
export const listSnapshots: ReadOperation<'listSnapshots'> = {
  kind: 'read',
  async run(db, { query }) {
    const snapshots = await db
      .selectFrom('snapshots')
      .selectAll()
      .where(beyond(order, query))
      .orderBy(inOrder(order))
      .limit(rowsOf(query))
      .execute();
    const { rows, next_cursor } = pageOf(snapshots, query, ({ name }) => [name]);
    return { items: rows.map(shown), next_cursor };
  },
};

/** PUT /sandbox/snapshots/{snapshot}: one unit of work, so it is the state of one instant. */
export const createSnapshot: ServiceOperation<'createSnapshot'> = {
  kind: 'service',
  run: ({ store, path, sandbox }) =>
    sandbox.exclusive(() =>
      store.commit(async ({ db }) => {
        const { snapshot: name } = path;
        const taken = sandbox.clock.now();
        await remove(db, name);
        const snapshot = await db.insertInto('snapshots').values({ name, taken }).returningAll().executeTakeFirstOrThrow();
        let position = 0;
        await dump(db, async (table, rows) => {
          const piece = { snapshot: name, position: position++, table_name: table, rows: JSON.stringify(rows) };
          await db.insertInto('snapshot_rows').values(piece).execute();
        });
        return shown(snapshot);
      }),
    ),
};

/** DELETE /sandbox/snapshots/{snapshot} */
export const deleteSnapshot: StoreOperation<'deleteSnapshot'> = {
  kind: 'store',
  async run({ db }, { path }) {
    if (!(await remove(db, path.snapshot))) throw notFound('snapshot of this name');
    return undefined;
  },
};

/** POST /sandbox/snapshots/{snapshot}/restore: all or nothing. Purchases that were under way in the snapshot are undone. */
export const restoreSnapshot: ServiceOperation<'restoreSnapshot'> = {
  kind: 'service',
  run: ({ store, path, sandbox }) =>
    sandbox.exclusive(async () => {
      const offset = await store.commit(async (transaction) => {
        const { db, logRewritten } = transaction;
        const kept = await db.selectFrom('snapshots').selectAll().where('name', '=', path.snapshot).executeTakeFirst();
        const { name } = found(kept, 'snapshot of this name');
        const pieces = await db.selectFrom('snapshot_rows').selectAll().where('snapshot', '=', name).orderBy('position').execute();
        await empty(transaction);
        for (const { table_name, rows } of pieces) {
          const parsed: readonly Row[] = JSON.parse(rows);
          await insert(db, table_name, parsed);
        }
        // Whoever has one of them under way has it in another state of the store.
        await disownReservations(db);
        await logRewritten();
        return (await readSettings(db)).clockOffset;
      });
      sandbox.clock.setOffset(offset);
      sandbox.forget();
      await sandbox.undoReservations();
      return shownClock(sandbox);
    }),
};

async function remove(db: Db, name: string): Promise<boolean> {
  await db.deleteFrom('snapshot_rows').where('snapshot', '=', name).execute();
  return (await db.deleteFrom('snapshots').where('name', '=', name).executeTakeFirst()).numDeletedRows > 0n;
}

function shown({ name, taken }: Selectable<SnapshotsTable>): Snapshot {
  return { name, taken: instant(taken) };
}
