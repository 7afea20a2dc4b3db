import type { HostSystemPriceVersion } from '@reseller/operator-client';

import { storePrices, withdrawPrices } from '../../core/vm/host-system.ts';
import { DEFAULTS } from '../../generated/operator/facts.gen.ts';
import { versionStateAt } from '../../rules/in-force.ts';
import type { PriceVersion } from '../../rules/price-version.ts';
import { toInstant } from '../instants.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { cursorKeys, pageOf, rowLimit } from '../paging.ts';
import type { Order } from '../paging.ts';
import { newDateOf, scheduledFrom, versionFrom } from '../price-versions.ts';
import { hostSystemOf, toPrices } from './host-system.ts';

const order: Order = { columns: { valid_from: 'integer' }, direction: 'desc' };

/** GET /host-systems/{hostsystem}/price-versions */
export const listHostSystemPriceVersions: ReadOperation<'listHostSystemPriceVersions'> = {
  kind: 'read',
  async run(db, { path, query, now }) {
    const { priceVersions } = await hostSystemOf(db, path.hostsystem);
    const [before = Infinity] = cursorKeys(order, query);
    const following = priceVersions.toReversed().filter(({ validFrom }) => validFrom < Number(before));
    const { rows, next_cursor } = pageOf(following.slice(0, rowLimit(query)), query, ({ validFrom }) => [validFrom]);
    return { items: rows.map((version) => toVersion(priceVersions, version, now)), next_cursor };
  },
};

/** POST /host-systems/{hostsystem}/price-versions */
export const scheduleHostSystemPrices: StoreOperation<'scheduleHostSystemPrices'> = {
  kind: 'store',
  lock: 'catalogue',
  async run({ db }, { path, body, now }) {
    const { name, priceVersions: versions } = await hostSystemOf(db, path.hostsystem);
    const validFrom = newDateOf({ subject: `The host system ${name}`, versions, wanted: body.valid_from, now });
    const { applies_to: appliesTo } = { ...DEFAULTS.ScheduleHostSystemPricesRequest, ...body };
    const version: PriceVersion = { validFrom, prices: body.prices, appliesTo };
    await storePrices(db, name, version);
    return toVersion([...versions, version], version, now);
  },
};

/** DELETE /host-systems/{hostsystem}/price-versions/{valid_from} */
export const withdrawHostSystemPrices: StoreOperation<'withdrawHostSystemPrices'> = {
  kind: 'store',
  lock: 'catalogue',
  async before(db, { path, now }) {
    const { priceVersions } = await hostSystemOf(db, path.hostsystem);
    const version = versionFrom(priceVersions, path.valid_from);
    return version && toVersion(priceVersions, version, now);
  },
  async run({ db }, { path, now }) {
    const { name, priceVersions } = await hostSystemOf(db, path.hostsystem);
    const { validFrom } = scheduledFrom(priceVersions, path.valid_from, now);
    await withdrawPrices(db, name, validFrom);
    return undefined;
  },
};

function toVersion(versions: readonly PriceVersion[], version: PriceVersion, now: number): HostSystemPriceVersion {
  const { validFrom, prices, appliesTo } = version;
  const state = versionStateAt(versions, version, now);
  return { prices: toPrices(prices), valid_from: toInstant(validFrom), applies_to: appliesTo, state };
}
