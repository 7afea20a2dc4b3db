import type { Selectable } from 'kysely';

import type { ResourcePrices, ResourceRanges } from '../../rules/resources.ts';
import type { HostSystemsTable } from '../../store/tables/host-systems.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';

/** A host system with parsed JSON columns. */
export interface HostSystem extends Omit<Selectable<HostSystemsTable>, 'ranges' | 'prices'> {
  readonly ranges: ResourceRanges;
  readonly prices: ResourcePrices;
}

/** The host system with a name, if it exists. */
export async function findHostSystem(db: Db, name: string): Promise<HostSystem | undefined> {
  const [row] = await oneHostSystem(db, { name });
  return row && parseColumns(row);
}

/** All host systems, in the order that the provider has set. */
export async function allHostSystems(db: Db): Promise<HostSystem[]> {
  return (await everyHostSystem(db, {})).map(parseColumns);
}

/** The expectation for a form that names an unknown host system. */
export async function expectedHostSystem(db: Db): Promise<string> {
  const names = (await everyHostSystem(db, {})).map(({ name }) => name);
  return `must be one of ${names.join(', ')}; GET /vm/list/hosts says what each of them offers`;
}

type Row = Selectable<HostSystemsTable>;

const oneHostSystem = prepared<{ name: string }, Row>((db, parameter) =>
  db.selectFrom('host_systems').selectAll().where('name', '=', parameter('name')),
);

const everyHostSystem = prepared<Record<never, never>, Row>((db) =>
  db.selectFrom('host_systems').selectAll().orderBy('position').orderBy('name'),
);

function parseColumns(row: Row): HostSystem {
  return { ...row, ranges: rangesOf(row.ranges), prices: pricesOf(row.prices) };
}

const MAX_CACHED_TEXTS = 1_000;

const rangesOf = cached((text): ResourceRanges => JSON.parse(text));
const pricesOf = cached((text): ResourcePrices => JSON.parse(text));

/** Caches parsed values, because there are few host systems and they rarely change. */
function cached<T>(parse: (text: string) => T): (text: string) => T {
  const values = new Map<string, T>();
  return (text) => {
    const known = values.get(text);
    if (known !== undefined) return known;
    if (values.size > MAX_CACHED_TEXTS) values.clear();
    const value = parse(text);
    values.set(text, value);
    return value;
  };
}
