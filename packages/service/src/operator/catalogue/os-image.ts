import type { OsImage } from '@reseller/operator-client';

import type { OsImage as OsImageRow } from '../../core/catalogue/catalogue.ts';
import type { Db } from '../../store/store.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { requireFound } from '../problem.ts';

const order: Order = { columns: { name: 'text' }, direction: 'asc' };

/** GET /os-images */
export const listOsImages: ReadOperation<'listOsImages'> = {
  kind: 'read',
  async run(db, { query }) {
    const images = db.selectFrom('os_images').selectAll();
    const { rows, next_cursor } = await readPage(images, order, query);
    return { items: rows.map(toOsImage), next_cursor };
  },
};

/** GET /os-images/{os} */
export const getOsImage: ReadOperation<'getOsImage'> = {
  kind: 'read',
  run: async (db, { path }) => requireFound(await imageOf(db, path.os), 'operating system of this name'),
};

/** PUT /os-images/{os} */
export const defineOsImage: StoreOperation<'defineOsImage'> = {
  kind: 'store',
  lock: 'catalogue',
  before: (db, { path }) => imageOf(db, path.os),
  async run({ db }, { path, body }) {
    const { displayname, username, platform = 'linux', icon = null, min_disk = 1 } = body;
    const image = { displayname, username, platform, icon, min_disk };
    const row = await db
      .insertInto('os_images')
      .values({ name: path.os, ...image })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(image))
      .returningAll()
      .executeTakeFirstOrThrow();
    return toOsImage(row);
  },
};

async function imageOf(db: Db, name: string): Promise<OsImage | undefined> {
  const row = await db.selectFrom('os_images').selectAll().where('name', '=', name).executeTakeFirst();
  return row && toOsImage(row);
}

function toOsImage({ icon, ...image }: OsImageRow): OsImage {
  return { ...image, ...(icon !== null && { icon }) };
}
