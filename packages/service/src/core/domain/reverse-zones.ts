/** The reverse zones of the addresses of VMs. `default_ptr` names the first address of each, unless the account has set or removed its name. */
import type { RecordSet, Zone } from '@reseller/adapters';

import {
  assignableIn,
  assignedBelow,
  firstAddressOf,
  isReverseZone,
  pointerOf,
  reverseNameOf,
  reverseZonesAbove,
  reverseZonesOf,
} from '../../rules/reverse-dns.ts';
import type { RdnsEntry } from '../../rules/reverse-dns.ts';
import type { Db, Store } from '../../store/store.ts';
import { catalogueOf } from '../catalogue/catalogue.ts';
import { isIn } from './dns-answer.ts';
import type { AnsweringZone, FoundName } from './dns-answer.ts';

const TTL_SECONDS = 3600;

/** The zone as it is now. Undefined if the service has no such zone. */
export async function reverseZoneOf(db: Db, name: string, nameservers: readonly string[]): Promise<Zone | undefined> {
  if (!isReverseZone(name, await cidrsOf(db))) return undefined;
  return { name, nameservers, records: (await namesOf(db, assignableIn(name))).flatMap(toRecordSet) };
}

/** The reverse zone that a name is in. Undefined if the service has no such zone. */
export async function reverseZoneAbove(db: Db, name: string, nameservers: readonly string[]): Promise<AnsweringZone | undefined> {
  const above = reverseZonesAbove(name);
  if (above.length === 0) return undefined;
  const cidrs = await cidrsOf(db);
  const zone = above.find((one) => isReverseZone(one, cidrs));
  return zone === undefined ? undefined : { name: zone, nameservers, at: (asked) => reverseNameAt(db, zone, asked) };
}

async function reverseNameAt(db: Db, zone: string, name: string): Promise<FoundName> {
  const sets = (await namesOf(db, assignedBelow(name))).flatMap(toRecordSet).filter((set) => isIn({ name }, set.name));
  return { sets, closest: sets.length > 0 ? name : zone };
}

function toRecordSet({ address, domain }: RdnsEntry): RecordSet[] {
  return domain === null ? [] : [{ name: reverseNameOf(address), type: 'PTR', ttl: TTL_SECONDS, data: [domain] }];
}

/**
 * The names of addresses and in networks of VMs, in their order. Each begins with its first address, which is listed without a name, too.
 * Addresses without a VM are left out.
 */
export async function namesOf(db: Db, assigned: readonly string[]): Promise<RdnsEntry[]> {
  if (assigned.length === 0) return [];
  const taken = await db
    .selectFrom('ip_addresses')
    .innerJoin('vms', 'vms.id', 'ip_addresses.vm_id')
    .select(['ip_addresses.address', 'vms.default_ptr'])
    .where('ip_addresses.address', 'in', assigned)
    .where('ip_addresses.pending', '=', 0)
    .where('vms.state', 'not in', ['reserved', 'removed'])
    .execute();
  const set = await db
    .selectFrom('rdns_entries')
    .select(['address', 'assigned', 'domain'])
    .where('assigned', 'in', assigned)
    .orderBy('address')
    .execute();
  const defaults = new Map(taken.map(({ address, default_ptr }) => [address, pointerOf(default_ptr)]));
  const byAssigned = Map.groupBy(set, (entry) => entry.assigned);
  return assigned.flatMap((one) => {
    const domain = defaults.get(one);
    if (domain === undefined) return [];
    const names = new Map<string, string | null>([[firstAddressOf(one), domain]]);
    for (const entry of byAssigned.get(one) ?? []) names.set(entry.address, entry.domain);
    return Array.from(names, ([address, name]) => ({ address, domain: name }));
  });
}

/** Adds the zones of addresses whose names have changed to the zones that must be published. */
export async function markReverseZones(store: Store): Promise<void> {
  const { jobBatch } = store.tuning;
  let found: number;
  do {
    const changes = await store.read((db) => db.selectFrom('rdns_changes').selectAll().orderBy('id').limit(jobBatch).execute());
    found = changes.length;
    if (found === 0) return;
    await store.commit(async ({ db }) => {
      const cidrs = await cidrsOf(db);
      const zones = new Set(changes.flatMap(({ address }) => reverseZonesOf(address, cidrs)));
      for (const zone of [...zones].toSorted()) await markZone(db, zone);
      const ids = changes.map(({ id }) => id);
      await db.deleteFrom('rdns_changes').where('id', 'in', ids).execute();
    });
  } while (found === jobBatch);
}

async function markZone(db: Db, domain: string): Promise<void> {
  await db
    .insertInto('zone_changes')
    .values({ domain, version: 1, next_attempt: 0, claimed_until: 0, attempts: 0 })
    .onConflict((conflict) =>
      conflict.column('domain').doUpdateSet(({ eb, ref }) => ({ version: eb(ref('zone_changes.version'), '+', 1), next_attempt: 0 })),
    )
    .execute();
}

export async function cidrsOf(db: Db): Promise<readonly string[]> {
  return (await catalogueOf(db)).pools.map(({ cidr }) => cidr);
}
