import type { TldPrice } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { setTldPrices } from '../../core/domain/tld-price.ts';
import { decimalOf, euros } from '../../rules/money.ts';
import type { TldsTable } from '../../store/tables/tlds.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { afterCursor, inOrder, pageOf, rowLimit } from '../paging.ts';
import type { Order } from '../paging.ts';

const order: Order = { columns: { tld: 'text' }, direction: 'asc' };

/** GET /tld-prices */
export const listTldPrices: ReadOperation<'listTldPrices'> = {
  kind: 'read',
  async run(db, { query }) {
    const prices = await db
      .selectFrom('tlds')
      .selectAll()
      .where(afterCursor(order, query))
      .orderBy(inOrder(order))
      .limit(rowLimit(query))
      .execute();
    const { rows, next_cursor } = pageOf(prices, query, ({ tld }) => [tld]);
    return { items: rows.map(toTldPrice), next_cursor };
  },
};

/** PUT /tld-prices/{tld} */
export const setTldPrice: StoreOperation<'setTldPrice'> = {
  kind: 'store',
  async before(db, { path }) {
    const price = await db.selectFrom('tlds').selectAll().where('tld', '=', path.tld).executeTakeFirst();
    return price && toTldPrice(price);
  },
  async run({ db }, { path, body }) {
    const { tld } = path;
    await setTldPrices(db, [{ tld, create: euros(body.create), renew: euros(body.renew), transfer: euros(body.transfer) }]);
    return toTldPrice(await db.selectFrom('tlds').selectAll().where('tld', '=', tld).executeTakeFirstOrThrow());
  },
};

function toTldPrice({ tld, create_price, renew_price, transfer_price }: Selectable<TldsTable>): TldPrice {
  function price(units: number): string {
    return decimalOf(BigInt(units));
  }
  return { tld, create: price(create_price), renew: price(renew_price), transfer: price(transfer_price) };
}
