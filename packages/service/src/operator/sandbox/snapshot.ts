import type { Snapshot } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { enterNoted } from '../../core/events/feed.ts';
import { disownReservations } from '../../delivery/reservation.ts';
import { toInstant } from '../../rules/instants.ts';
import { dump, empty, forgetNoted, freeze, insert } from '../../sandbox/tables.ts';
import type { DumpedRow } from '../../sandbox/tables.ts';
import { readSettings } from '../../store/settings.ts';
import type { Db, Transaction } from '../../store/store.ts';
import type { SnapshotsTable } from '../../store/tables/service.ts';
import type { ReadOperation, ServiceOperation, StoreOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { requireFound, notFound } from '../problem.ts';
import { clockAt, toClock, withClockTurnedBack } from './clock.ts';

const order: Order = { columns: { name: 'text' }, direction: 'asc' };

/** GET /sandbox/snapshots */
export const listSnapshots: ReadOperation<'listSnapshots'> = {
  kind: 'read',
  async run(db, { query }) {
    const snapshots = db.selectFrom('snapshots').selectAll();
    const { rows, next_cursor } = await readPage(snapshots, order, query);
    return { items: rows.map(toSnapshot), next_cursor };
  },
};

/** PUT /sandbox/snapshots/{snapshot}: takes the snapshot in one transaction, so that it is consistent. */
export const createSnapshot: ServiceOperation<'createSnapshot'> = {
  kind: 'service',
  run: ({ runtime: { store, ports }, path, sandbox }, record) =>
    sandbox.exclusive(() =>
      store.commit(async ({ db }) => {
        const { snapshot: name } = path;
        await freeze(db, store.sharing);
        const taken = sandbox.clock.now();
        await enterNoted(db, { store, random: ports.random, now: taken });
        await remove(db, name);
        const snapshot = await db.insertInto('snapshots').values({ name, taken }).returningAll().executeTakeFirstOrThrow();
        let position = 0;
        await dump(db, async (table, rows) => {
          const piece = { snapshot: name, position: position++, table_name: table, rows: JSON.stringify(rows) };
          await db.insertInto('snapshot_rows').values(piece).execute();
        });
        const created = toSnapshot(snapshot);
        await record(db, { before: null, after: created });
        return created;
      }),
    ),
};

/** DELETE /sandbox/snapshots/{snapshot} */
export const deleteSnapshot: StoreOperation<'deleteSnapshot'> = {
  kind: 'store',
  async before(db, { path }) {
    const snapshot = await db.selectFrom('snapshots').selectAll().where('name', '=', path.snapshot).executeTakeFirst();
    return snapshot && toSnapshot(snapshot);
  },
  async run({ db }, { path }) {
    if (!(await remove(db, path.snapshot))) throw notFound('snapshot of this name');
    return undefined;
  },
};

/** POST /sandbox/snapshots/{snapshot}/restore: one transaction. Deliveries that were in progress in the snapshot are recovered. */
export const restoreSnapshot: ServiceOperation<'restoreSnapshot'> = {
  kind: 'service',
  async run({ runtime, path, sandbox }, record) {
    await sandbox.exclusive(async () => {
      const { store } = runtime;
      const older = await store.read((db) => clockOffsetIn(db, path.snapshot));
      async function restore({ db }: Transaction): Promise<number> {
        await freeze(db, store.sharing);
        const pieces = await piecesOf(db, path.snapshot);
        await empty(db);
        for (const { table_name, rows } of pieces) await insert(db, store, table_name, rows);
        await forgetNoted(db);
        // An instance that is delivering one of them reserved it in another state of the store.
        await disownReservations(db);
        const { clockOffset } = await readSettings(db, runtime.mode);
        await record(db, { before: null, after: clockAt(sandbox.clock.base.now() + clockOffset, clockOffset) });
        return clockOffset;
      }
      const offset = await withClockTurnedBack({ runtime, sandbox }, older, () => store.commit(restore));
      sandbox.clock.setOffset(offset);
      await sandbox.propagate();
    });
    await sandbox.recoverDeliveries();
    return toClock(sandbox);
  },
};

/** Milliseconds by which the clock of a snapshot is ahead of the machine's. */
async function clockOffsetIn(db: Db, name: string): Promise<number> {
  const pieces = await piecesOf(db, name, 'settings');
  const settings = pieces.flatMap(({ rows }) => parseRows(rows));
  return Number(settings.find((row) => row['name'] === 'clock_offset')?.['value'] ?? 0);
}

/** @param table The only table whose rows are read. */
async function piecesOf(db: Db, snapshot: string, table?: string): Promise<{ table_name: string; rows: string }[]> {
  const kept = await db.selectFrom('snapshots').select('name').where('name', '=', snapshot).executeTakeFirst();
  const { name } = requireFound(kept, 'snapshot of this name');
  const pieces = db.selectFrom('snapshot_rows').select(['table_name', 'rows']).where('snapshot', '=', name).orderBy('position');
  return (table === undefined ? pieces : pieces.where('table_name', '=', table)).execute();
}

function parseRows(rows: string): readonly DumpedRow[] {
  return JSON.parse(rows);
}

async function remove(db: Db, name: string): Promise<boolean> {
  await db.deleteFrom('snapshot_rows').where('snapshot', '=', name).execute();
  return (await db.deleteFrom('snapshots').where('name', '=', name).executeTakeFirst()).numDeletedRows > 0n;
}

function toSnapshot({ name, taken }: Selectable<SnapshotsTable>): Snapshot {
  return { name, taken: toInstant(taken) };
}
