import type { SetTldPriceRequest, TldPrice, TldPriceVersion } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { accountsWithDomains } from '../../core/accounting/price-rise.ts';
import { holdRenewalsOfTld, lockRenewalsOfTld } from '../../core/accounting/renewal-hold.ts';
import { setTldPrices, tldPricesAt, tldPriceVersions, toTldPriceVersion } from '../../core/catalogue/tld-price.ts';
import type { TldPriceVersion as Version } from '../../core/catalogue/tld-price.ts';
import { versionStateAt } from '../../rules/in-force.ts';
import { toInstant } from '../../rules/instants.ts';
import { decimalOf, euros } from '../../rules/money.ts';
import type { Db } from '../../store/store.ts';
import type { TldPricesTable } from '../../store/tables/catalogue.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { assertPricesCanBeBilled, listVersions, newDateOf, versionBeforeWithdrawal, withdrawVersion } from '../price-versions.ts';
import type { PriceList } from '../price-versions.ts';
import { notFound, requireFound } from '../problem.ts';

const NO_PRICES = 'TLD of this name in the price list';
const order: Order = { columns: { tld: 'text' }, direction: 'asc' };

const priceList: PriceList<{ readonly tld: string }, Version, TldPriceVersion> = {
  versionsOf: (db, { tld }) => versionsOf(db, tld),
  toVersion,
  async remove(db, { tld }, validFrom, now) {
    await db.deleteFrom('tld_prices').where('tld', '=', tld).where('valid_from', '=', validFrom).execute();
    await holdRenewalsOfTld(db, tld, now);
  },
};

/** GET /tld-prices */
export const listTldPrices: ReadOperation<'listTldPrices'> = {
  kind: 'read',
  async run(db, { query, now }) {
    const prices = tldPricesAt(db, now);
    const { rows, next_cursor } = await readPage(prices, order, query);
    return { items: rows.map(toTldPrice), next_cursor };
  },
};

/** GET /tld-prices/{tld} */
export const getTldPrice: ReadOperation<'getTldPrice'> = {
  kind: 'read',
  run: async (db, { path, now }) => requireFound(await priceOf(db, path.tld, now), NO_PRICES),
};

/** PUT /tld-prices/{tld}: the prices apply immediately. */
export const setTldPrice: StoreOperation<'setTldPrice'> = {
  kind: 'store',
  lock: 'tld_prices',
  before: (db, { path, now }) => priceOf(db, path.tld, now),
  async run({ db }, { path: { tld }, body, now }) {
    const prices = pricesOf(body);
    await setTldPrices(db, [{ tld, ...prices }], now);
    await lockRenewalsOfTld(db, tld, now);
    await assertPricesCanBeBilled(db, () => accountsWithDomains(db, tld, prices.renew), { pointer: '#/renew', now });
    await holdRenewalsOfTld(db, tld, now);
    return requireFound(await priceOf(db, tld, now), NO_PRICES);
  },
};

/** GET /tld-prices/{tld}/versions */
export const listTldPriceVersions: ReadOperation<'listTldPriceVersions'> = {
  kind: 'read',
  run: (db, call) => listVersions(db, call, priceList),
};

/** POST /tld-prices/{tld}/versions */
export const scheduleTldPrices: StoreOperation<'scheduleTldPrices'> = {
  kind: 'store',
  lock: 'tld_prices',
  async run({ db }, { path: { tld }, body, now }) {
    const versions = await versionsOf(db, tld);
    const validFrom = newDateOf({ subject: `The TLD ${tld}`, versions, wanted: body.valid_from, now });
    const version = { tld, ...pricesOf(body), validFrom };
    await setTldPrices(db, [version], validFrom);
    await lockRenewalsOfTld(db, tld, now);
    await assertPricesCanBeBilled(db, () => accountsWithDomains(db, tld, version.renew), { pointer: '#/renew', now });
    await holdRenewalsOfTld(db, tld, now);
    return toVersion([...versions, version], version, now);
  },
};

/** DELETE /tld-prices/{tld}/versions/{valid_from} */
export const withdrawTldPrices: StoreOperation<'withdrawTldPrices'> = {
  kind: 'store',
  lock: 'tld_prices',
  before: (db, call) => versionBeforeWithdrawal(db, call, priceList),
  run: ({ db }, call) => withdrawVersion(db, call, priceList),
};

/** The prices in force. Undefined if the TLD has none. */
async function priceOf(db: Db, tld: string, now: number): Promise<TldPrice | undefined> {
  const price = await tldPricesAt(db, now).where('price.tld', '=', tld).executeTakeFirst();
  return price && toTldPrice(price);
}

/** @throws OperatorProblem 404 if the TLD has no prices. */
async function versionsOf(db: Db, tld: string): Promise<Version[]> {
  const versions = await tldPriceVersions(db, tld);
  if (versions.length === 0) throw notFound(NO_PRICES);
  return versions;
}

function pricesOf({ create, renew, transfer }: SetTldPriceRequest) {
  return { create: euros(create), renew: euros(renew), transfer: euros(transfer) };
}

function toTldPrice(row: Selectable<TldPricesTable>): TldPrice {
  return { tld: row.tld, ...toPrices(toTldPriceVersion(row)) };
}

function toVersion(versions: readonly Version[], version: Version, now: number): TldPriceVersion {
  return { ...toPrices(version), valid_from: toInstant(version.validFrom), state: versionStateAt(versions, version, now) };
}

function toPrices({ create, renew, transfer }: Version) {
  return { create: decimalOf(create), renew: decimalOf(renew), transfer: decimalOf(transfer) };
}
