import type { ReadOperation, StoreOperation } from '../operation.ts';
import { afterCursor, inOrder, pageOf, rowLimit } from '../paging.ts';
import type { Order } from '../paging.ts';

const order: Order = { columns: { name: 'text' }, direction: 'asc' };

/** GET /os-images */
export const listOsImages: ReadOperation<'listOsImages'> = {
  kind: 'read',
  async run(db, { query }) {
    const images = await db
      .selectFrom('os_images')
      .selectAll()
      .where(afterCursor(order, query))
      .orderBy(inOrder(order))
      .limit(rowLimit(query))
      .execute();
    const { rows, next_cursor } = pageOf(images, query, ({ name }) => [name]);
    return { items: [...rows], next_cursor };
  },
};

/** PUT /os-images/{os} */
export const defineOsImage: StoreOperation<'defineOsImage'> = {
  kind: 'store',
  lock: 'catalogue',
  before: (db, { path }) => db.selectFrom('os_images').selectAll().where('name', '=', path.os).executeTakeFirst(),
  run: ({ db }, { path, body: { displayname, username } }) =>
    db
      .insertInto('os_images')
      .values({ name: path.os, displayname, username })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ displayname, username }))
      .returningAll()
      .executeTakeFirstOrThrow(),
};
