import type { Selectable } from 'kysely';

import type { ResourcePrices, ResourceRanges } from '../../rules/resources.ts';
import type { Db } from '../../store/store.ts';
import type { HostSystemsTable } from '../../store/tables/host-systems.ts';

/** A host system with parsed JSON columns. */
export interface HostSystem extends Omit<Selectable<HostSystemsTable>, 'ranges' | 'prices'> {
  readonly ranges: ResourceRanges;
  readonly prices: ResourcePrices;
}

/** Reads all host systems, in the order that the provider has set. Requests take them from the catalogue. */
export async function readHostSystems(db: Db): Promise<HostSystem[]> {
  const rows = await db.selectFrom('host_systems').selectAll().orderBy('position').orderBy('name').execute();
  return rows.map((row) => ({ ...row, ranges: JSON.parse(row.ranges), prices: JSON.parse(row.prices) }));
}

/** The host system with a name, if it exists. */
export function findHostSystem(hosts: readonly HostSystem[], name: string): HostSystem | undefined {
  return hosts.find((host) => host.name === name);
}

/** The expectation for a form that names an unknown host system. */
export function expectedHostSystem(hosts: readonly HostSystem[]): string {
  return `must be one of ${hosts.map(({ name }) => name).join(', ')}; GET /vm/list/hosts says what each of them offers`;
}
