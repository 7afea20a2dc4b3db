import type { Selectable } from 'kysely';

import type { ResourcePrices, ResourceRanges } from '../../rules/resources.ts';
import type { HostSystemsTable } from '../../store/tables/host-systems.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';

/** A host system with what its JSON columns hold. */
export interface HostSystem extends Omit<Selectable<HostSystemsTable>, 'ranges' | 'prices'> {
  readonly ranges: ResourceRanges;
  readonly prices: ResourcePrices;
}

/** The host system of a name, or undefined. */
export async function findHostSystem(db: Db, name: string): Promise<HostSystem | undefined> {
  const [row] = await oneHostSystem(db, { name });
  return row && parsed(row);
}

/** Every host system, in the provider's order. */
export async function allHostSystems(db: Db): Promise<HostSystem[]> {
  return (await everyHostSystem(db, {})).map(parsed);
}

/** What a form is told that names none of them. */
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

function parsed(row: Row): HostSystem {
  return { ...row, ranges: rangesOf(row.ranges), prices: pricesOf(row.prices) };
}

const rangesOf = remembering((text): ResourceRanges => JSON.parse(text));
const pricesOf = remembering((text): ResourcePrices => JSON.parse(text));

/** The same text always parses to the same value: host systems are few, and change rarely. */
function remembering<T>(parse: (text: string) => T): (text: string) => T {
  const values = new Map<string, T>();
  return (text) => {
    const known = values.get(text);
    if (known !== undefined) return known;
    if (values.size > 1_000) values.clear();
    const value = parse(text);
    values.set(text, value);
    return value;
  };
}
