import type { SetTldPriceRequest, TldPrice, TldPriceVersion } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { setTldPrices, tldPricesAt, tldPriceVersions } from '../../core/domain/tld-price.ts';
import type { TldPriceRow } from '../../core/domain/tld-price.ts';
import { versionStateAt } from '../../rules/in-force.ts';
import { decimalOf, euros } from '../../rules/money.ts';
import type { Db } from '../../store/store.ts';
import type { TldPricesTable } from '../../store/tables/tld-prices.ts';
import { toInstant } from '../instants.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { afterCursor, cursorKeys, inOrder, pageOf, rowLimit } from '../paging.ts';
import type { Order } from '../paging.ts';
import { newDateOf, scheduledFrom, versionFrom } from '../price-versions.ts';
import { notFound } from '../problem.ts';

const order: Order = { columns: { tld: 'text' }, direction: 'asc' };
const versionOrder: Order = { columns: { valid_from: 'integer' }, direction: 'desc' };

/** GET /tld-prices */
export const listTldPrices: ReadOperation<'listTldPrices'> = {
  kind: 'read',
  async run(db, { query, now }) {
    const prices = await tldPricesAt(db, now).where(afterCursor(order, query)).orderBy(inOrder(order)).limit(rowLimit(query)).execute();
    const { rows, next_cursor } = pageOf(prices, query, ({ tld }) => [tld]);
    return { items: rows.map(toTldPrice), next_cursor };
  },
};

/** PUT /tld-prices/{tld}: the prices are in force from now on. */
export const setTldPrice: StoreOperation<'setTldPrice'> = {
  kind: 'store',
  lock: 'tld_prices',
  async before(db, { path, now }) {
    const price = await tldPricesAt(db, now).where('price.tld', '=', path.tld).executeTakeFirst();
    return price && toTldPrice(price);
  },
  async run({ db }, { path: { tld }, body, now }) {
    await setTldPrices(db, [{ tld, ...pricesOf(body) }], now);
    return toTldPrice(await tldPricesAt(db, now).where('price.tld', '=', tld).executeTakeFirstOrThrow());
  },
};

/** GET /tld-prices/{tld}/versions */
export const listTldPriceVersions: ReadOperation<'listTldPriceVersions'> = {
  kind: 'read',
  async run(db, { path, query, now }) {
    const versions = await versionsOf(db, path.tld);
    const [before = Infinity] = cursorKeys(versionOrder, query);
    const following = versions.toReversed().filter(({ validFrom }) => validFrom < Number(before));
    const { rows, next_cursor } = pageOf(following.slice(0, rowLimit(query)), query, ({ validFrom }) => [validFrom]);
    return { items: rows.map((version) => toVersion(versions, version, now)), next_cursor };
  },
};

/** POST /tld-prices/{tld}/versions */
export const scheduleTldPrices: StoreOperation<'scheduleTldPrices'> = {
  kind: 'store',
  lock: 'tld_prices',
  async run({ db }, { path: { tld }, body, now }) {
    const versions = await versionsOf(db, tld);
    const validFrom = newDateOf({ subject: `The TLD ${tld}`, versions, wanted: body.valid_from, now });
    await setTldPrices(db, [{ tld, ...pricesOf(body) }], validFrom);
    const after = await versionsOf(db, tld);
    const scheduled = after.find((version) => version.validFrom === validFrom);
    if (!scheduled) throw new Error(`The prices of ${tld} were not stored.`);
    return toVersion(after, scheduled, now);
  },
};

/** DELETE /tld-prices/{tld}/versions/{valid_from} */
export const withdrawTldPrices: StoreOperation<'withdrawTldPrices'> = {
  kind: 'store',
  lock: 'tld_prices',
  async before(db, { path, now }) {
    const versions = await versionsOf(db, path.tld);
    const version = versionFrom(versions, path.valid_from);
    return version && toVersion(versions, version, now);
  },
  async run({ db }, { path: { tld, valid_from }, now }) {
    const { validFrom } = scheduledFrom(await versionsOf(db, tld), valid_from, now);
    await db.deleteFrom('tld_prices').where('tld', '=', tld).where('valid_from', '=', validFrom).execute();
    return undefined;
  },
};

/** @throws OperatorProblem 404 if the TLD has no prices. */
async function versionsOf(db: Db, tld: string): Promise<TldPriceRow[]> {
  const versions = await tldPriceVersions(db, tld);
  if (versions.length === 0) throw notFound('TLD of this name in the price list');
  return versions;
}

function pricesOf({ create, renew, transfer }: SetTldPriceRequest) {
  return { create: euros(create), renew: euros(renew), transfer: euros(transfer) };
}

function toTldPrice(row: Selectable<TldPricesTable>): TldPrice {
  return { tld: row.tld, ...toPrices(row) };
}

function toVersion(versions: readonly TldPriceRow[], version: TldPriceRow, now: number): TldPriceVersion {
  return { ...toPrices(version), valid_from: toInstant(version.validFrom), state: versionStateAt(versions, version, now) };
}

function toPrices({ create_price, renew_price, transfer_price }: Selectable<TldPricesTable>) {
  function price(units: number): string {
    return decimalOf(BigInt(units));
  }
  return { create: price(create_price), renew: price(renew_price), transfer: price(transfer_price) };
}
