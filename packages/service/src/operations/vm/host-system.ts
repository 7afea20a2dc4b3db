import type { Selectable } from 'kysely';

import type { ResourcePrices, ResourceRanges } from '../../rules/resources.ts';
import type { HostSystemsTable } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';

/** A host system with what its JSON columns hold. */
export interface HostSystem extends Omit<Selectable<HostSystemsTable>, 'ranges' | 'prices'> {
  readonly ranges: ResourceRanges;
  readonly prices: ResourcePrices;
}

/** The host system of a name, or undefined. */
export async function findHostSystem(db: Db, name: string): Promise<HostSystem | undefined> {
  const row = await db.selectFrom('host_systems').selectAll().where('name', '=', name).executeTakeFirst();
  return row && parsed(row);
}

/** Every host system, in the provider's order. */
export async function allHostSystems(db: Db): Promise<HostSystem[]> {
  const rows = await db.selectFrom('host_systems').selectAll().orderBy('position').orderBy('name').execute();
  return rows.map(parsed);
}

function parsed(row: Selectable<HostSystemsTable>): HostSystem {
  const ranges: ResourceRanges = JSON.parse(row.ranges);
  const prices: ResourcePrices = JSON.parse(row.prices);
  return { ...row, ranges, prices };
}
