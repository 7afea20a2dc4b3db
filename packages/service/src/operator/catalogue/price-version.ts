import type { HostSystemPriceVersion } from '@reseller/operator-client';

import { accountsWithVms } from '../../core/accounting/price-rise.ts';
import { storePrices, withdrawPrices } from '../../core/catalogue/host-system.ts';
import { DEFAULTS } from '../../generated/operator/facts.gen.ts';
import { versionStateAt } from '../../rules/in-force.ts';
import { toInstant } from '../../rules/instants.ts';
import type { PriceVersion } from '../../rules/price-version.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { assertPricesCanBeBilled, listVersions, newDateOf, versionBeforeWithdrawal, withdrawVersion } from '../price-versions.ts';
import type { PriceList } from '../price-versions.ts';
import { requireHostSystem, toResourcePrices } from './host-system.ts';

const priceList: PriceList<{ readonly hostsystem: string }, PriceVersion, HostSystemPriceVersion> = {
  versionsOf: async (db, { hostsystem }) => (await requireHostSystem(db, hostsystem)).priceVersions,
  toVersion: toHostSystemPriceVersion,
  remove: (db, { hostsystem }, validFrom) => withdrawPrices(db, hostsystem, validFrom),
};

/** GET /host-systems/{hostsystem}/price-versions */
export const listHostSystemPriceVersions: ReadOperation<'listHostSystemPriceVersions'> = {
  kind: 'read',
  run: (db, call) => listVersions(db, call, priceList),
};

/** POST /host-systems/{hostsystem}/price-versions */
export const scheduleHostSystemPrices: StoreOperation<'scheduleHostSystemPrices'> = {
  kind: 'store',
  lock: 'catalogue',
  async run({ db }, { path, body, now }) {
    const { name, priceVersions: versions } = await requireHostSystem(db, path.hostsystem);
    const validFrom = newDateOf({ subject: `The host system ${name}`, versions, wanted: body.valid_from, now });
    const { applies_to: appliesTo } = { ...DEFAULTS.ScheduleHostSystemPricesRequest, ...body };
    const version: PriceVersion = { validFrom, prices: body.prices, appliesTo };
    await storePrices(db, name, version);
    if (appliesTo === 'all_vms')
      await assertPricesCanBeBilled(db, () => accountsWithVms(db, name, body.prices), { pointer: '#/prices', now });
    return toHostSystemPriceVersion([...versions, version], version, now);
  },
};

/** DELETE /host-systems/{hostsystem}/price-versions/{valid_from} */
export const withdrawHostSystemPrices: StoreOperation<'withdrawHostSystemPrices'> = {
  kind: 'store',
  lock: 'catalogue',
  before: (db, call) => versionBeforeWithdrawal(db, call, priceList),
  run: ({ db }, call) => withdrawVersion(db, call, priceList),
};

function toHostSystemPriceVersion(versions: readonly PriceVersion[], version: PriceVersion, now: number): HostSystemPriceVersion {
  const { validFrom, prices, appliesTo } = version;
  const state = versionStateAt(versions, version, now);
  return { prices: toResourcePrices(prices), valid_from: toInstant(validFrom), applies_to: appliesTo, state };
}
