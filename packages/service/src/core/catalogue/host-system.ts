import type { Selectable } from 'kysely';

import { inForceAt } from '../../rules/in-force.ts';
import type { AppliesTo, PriceVersion } from '../../rules/price-version.ts';
import type { ResourceRanges } from '../../rules/resources.ts';
import type { Db } from '../../store/store.ts';
import type { HostSystemPricesTable, HostSystemsTable } from '../../store/tables/catalogue.ts';

/** A host system with parsed JSON columns. */
export interface HostSystem extends Omit<Selectable<HostSystemsTable>, 'ranges'> {
  readonly ranges: ResourceRanges;
  /** Past, present and scheduled prices, in the order of their dates. */
  readonly priceVersions: readonly PriceVersion[];
}

/** Reads all host systems, in the order that the provider has set. Requests take them from the catalogue. */
export async function readHostSystems(db: Db): Promise<HostSystem[]> {
  const rows = await db.selectFrom('host_systems').selectAll().orderBy('position').orderBy('name').execute();
  const prices = await db.selectFrom('host_system_prices').selectAll().orderBy('valid_from').execute();
  const byHost = Map.groupBy(prices, ({ hostsystem }) => hostsystem);
  return rows.map((row) => ({
    ...row,
    ranges: JSON.parse(row.ranges),
    priceVersions: (byHost.get(row.name) ?? []).map(toPriceVersion),
  }));
}

/** Stores prices of a host system. Prices with the same date are replaced. */
export async function storePrices(db: Db, hostsystem: string, { validFrom, prices, appliesTo }: PriceVersion): Promise<void> {
  const columns = { prices: JSON.stringify(prices), applies_to: appliesTo };
  await db
    .insertInto('host_system_prices')
    .values({ hostsystem, valid_from: validFrom, ...columns })
    .onConflict((conflict) => conflict.columns(['hostsystem', 'valid_from']).doUpdateSet(columns))
    .execute();
}

/** Removes prices of a host system. Their date (milliseconds) must be in the future. */
export async function withdrawPrices(db: Db, hostsystem: string, validFrom: number): Promise<void> {
  await db.deleteFrom('host_system_prices').where('hostsystem', '=', hostsystem).where('valid_from', '=', validFrom).execute();
}

/** The prices of a host system in force at an instant, in milliseconds. */
export function pricesAt({ priceVersions }: HostSystem, now: number): PriceVersion {
  return inForceAt(priceVersions, now);
}

function toPriceVersion({ valid_from, prices, applies_to }: Selectable<HostSystemPricesTable>): PriceVersion {
  const appliesTo: AppliesTo = applies_to === 'all_vms' ? 'all_vms' : 'new_purchases';
  return { validFrom: valid_from, prices: JSON.parse(prices), appliesTo };
}

/** The host system with a name, if it exists. */
export function findHostSystem(hosts: readonly HostSystem[], name: string): HostSystem | undefined {
  return hosts.find((host) => host.name === name);
}

/** The expectation for a form that names an unknown host system. */
export function expectedHostSystem(hosts: readonly HostSystem[]): string {
  if (hosts.length === 0) return 'cannot be chosen, because the provider has not set up a host system yet';
  return `must be one of ${hosts.map(({ name }) => name).join(', ')}; GET /vm/list/hosts says what each of them offers`;
}
