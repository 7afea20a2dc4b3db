/** Publishes the zones that have changed. Triggers of the store add them to `zone_changes`, in the transaction of the change. */
import type { FencingToken, RecordSet, Zone } from '@reseller/adapters';
import { sql } from 'kysely';

import { NO_ACCOUNT } from '../../delivery/background-work.ts';
import type { WorkKind } from '../../delivery/background-work.ts';
import { issueToken } from '../../delivery/reservation.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { textOf } from '../../rules/dns-text.ts';
import { listOfNameservers } from '../../rules/nameserver.ts';
import type { Db } from '../../store/store.ts';
import { reasonOf, waitAfter } from '../jobs/failed-jobs.ts';
import type { AnsweringZone, FoundName } from './dns-answer.ts';
import { recordNameOf, recordsOf } from './dns.ts';
import type { DnsRecordRow } from './dns.ts';
import { nameserversOf } from './domain.ts';
import { markReverseZones, reverseZoneOf } from './reverse-zones.ts';

/** A zone that could not be published. */
export interface FailedZone {
  /** Undefined if the changed zones could not be read. */
  readonly domain: string | undefined;
  readonly error: unknown;
  /** Milliseconds. */
  readonly nextAttempt: number;
}

/** A claim outlasts the call, which the port timeout ends, by this time for the store. The claim of an instance that died ends then. */
const CLAIM_MARGIN_MS = 90_000;

/** A zone that this instance publishes. */
interface ClaimedZone {
  readonly domain: string;
  /** The changes that the publication has. */
  readonly version: number;
  readonly token: FencingToken;
}

/** Publishes the changed zones. A zone that fails waits as long as a failed job does, and a change ends the wait. */
export function zoneWork(runtime: Runtime, onFailure: (failed: FailedZone) => void): WorkKind<ClaimedZone> {
  const { store, ports, portTimeoutMs } = runtime;
  return {
    places: store.tuning.publishedZones,
    due: (db) => changedZones(db, ports.clock.now()).select('domain').unionAll(db.selectFrom('rdns_changes').select('address as domain')),
    async accounts() {
      await markReverseZones(store);
      const rows = await store.read((db) =>
        changedZones(db, ports.clock.now())
          .select(OWNER.as('owner'))
          .groupBy('owner')
          .orderBy(({ fn }) => fn.min('next_attempt'))
          .orderBy('owner')
          .execute(),
      );
      return rows.map(({ owner }) => owner);
    },
    async take(accountId) {
      const now = ports.clock.now();
      for (;;) {
        const waiting = await store.read((db) =>
          changedZones(db, now)
            .select('domain')
            .where(OWNER, '=', accountId)
            .orderBy('next_attempt')
            .orderBy('domain')
            .limit(1)
            .executeTakeFirst(),
        );
        if (waiting === undefined) return undefined;
        const claimed = await store.commit(({ db }) =>
          claimZone(db, waiting.domain, { now, until: now + portTimeoutMs + CLAIM_MARGIN_MS }),
        );
        if (claimed) return claimed;
      }
    },
    perform: (claimed) => publishZone(runtime, claimed, onFailure),
    onFailure: (error) => onFailure({ domain: undefined, error, nextAttempt: ports.clock.now() }),
  };
}

function changedZones(db: Db, now: number) {
  return db
    .selectFrom('zone_changes')
    .leftJoin('domains', 'domains.name', 'zone_changes.domain')
    .where('next_attempt', '<=', now)
    .where('claimed_until', '<=', now);
}

/** The account of a zone. A reverse zone belongs to none. */
const OWNER = sql<string>`coalesce(domains.account_id, ${sql.lit(NO_ACCOUNT)})`;

async function claimZone(
  db: Db,
  domain: string,
  { now, until }: { readonly now: number; readonly until: number },
): Promise<ClaimedZone | undefined> {
  const claimed = await db
    .updateTable('zone_changes')
    .set({ claimed_until: until })
    .where('domain', '=', domain)
    .where('claimed_until', '<=', now)
    .returning('version')
    .executeTakeFirst();
  // The token is issued before the zone is read. So a later claim, which reads a later state, has a higher one.
  return claimed && { domain, version: claimed.version, token: await issueToken(db, `zone/${domain}`) };
}

async function publishZone(
  { store, ports: { dns, registrar, clock } }: Runtime,
  { domain, version, token }: ClaimedZone,
  onFailure: (failed: FailedZone) => void,
): Promise<void> {
  try {
    const zone = await store.read((db) => zoneOf(db, domain, registrar.standardNameservers));
    await (zone === undefined ? dns.remove(domain, token) : dns.publish(zone, token));
  } catch (error) {
    return onFailure({ domain, error, nextAttempt: await storeZoneFailure(store, domain, { error, now: clock.now() }) });
  }
  await store.commit(async ({ db }) => {
    const done = await db.deleteFrom('zone_changes').where('domain', '=', domain).where('version', '=', version).executeTakeFirst();
    // The zone has changed since it was read.
    if (done.numDeletedRows === 0n)
      await db.updateTable('zone_changes').set({ claimed_until: 0, attempts: 0, reason: null }).where('domain', '=', domain).execute();
  });
}

function storeZoneFailure(store: Runtime['store'], domain: string, { error, now }: { error: unknown; now: number }): Promise<number> {
  return store.commit(async ({ db }) => {
    const { attempts: earlier = 0 } =
      (await db.selectFrom('zone_changes').select('attempts').where('domain', '=', domain).executeTakeFirst()) ?? {};
    const attempts = earlier + 1;
    const nextAttempt = now + waitAfter(attempts, store.tuning);
    await db
      .updateTable('zone_changes')
      .set({ claimed_until: 0, attempts, reason: reasonOf(error), next_attempt: nextAttempt })
      .where('domain', '=', domain)
      .execute();
    return nextAttempt;
  });
}

/**
 * A zone as it is now. Undefined if no account has the domain, or the service does not have the reverse zone.
 *
 * @param nameservers The provider's nameservers, which the reverse zones have.
 */
export async function zoneOf(db: Db, name: string, nameservers: readonly string[]): Promise<Zone | undefined> {
  return (await reverseZoneOf(db, name, nameservers)) ?? zoneOfDomain(db, name);
}

/** Domains of accounts with a zone. */
function domainsWithZone(db: Db) {
  return db
    .selectFrom('domains')
    .selectAll()
    .where('state', '!=', 'reserved')
    .where((eb) => eb.or([eb('state', '!=', 'pending'), eb('zone_withheld', '=', 0)]));
}

async function zoneOfDomain(db: Db, name: string): Promise<Zone | undefined> {
  const domain = await domainsWithZone(db).where('name', '=', name).executeTakeFirst();
  if (!domain) return undefined;
  const records = await recordsOf(db, { accountId: domain.account_id, domain: name });
  return { name, nameservers: listOfNameservers(nameserversOf(domain)), records: toRecordSets(records) };
}

function toRecordSets(records: readonly DnsRecordRow[]): RecordSet[] {
  const sets = new Map<string, RecordSet & { readonly data: string[] }>();
  for (const record of records) {
    const [owner, key] = [recordNameOf(record), `${record.sub} ${record.type}`];
    const set = sets.get(key) ?? { name: owner, type: record.type, ttl: record.ttl, data: [] };
    set.data.push(record.type === 'TXT' ? (textOf(record.data) ?? record.data) : record.data);
    sets.set(key, set);
  }
  return [...sets.values()];
}

/** The zone of the domain that a name is in. Undefined if no account has the domain. */
export async function zoneAbove(db: Db, name: string): Promise<AnsweringZone | undefined> {
  const domains = await domainsWithZone(db).where('name', 'in', namesFrom(name)).execute();
  const [longest] = domains.toSorted((one, other) => other.name.length - one.name.length);
  if (!longest) return undefined;
  const { name: domain } = longest;
  return { name: domain, nameservers: listOfNameservers(nameserversOf(longest)), at: (asked) => recordsAround(db, domain, asked) };
}

/** A name and those above it, the longest first. */
function namesFrom(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}

async function recordsAround(db: Db, domain: string, name: string): Promise<FoundName> {
  const subs = name === domain ? [] : namesFrom(name.slice(0, -domain.length - 1));
  const existing = subs[await firstExisting(db, domain, subs)] ?? '';
  const closest = recordNameOf({ domain, sub: existing });
  const own = [subs[0] ?? '', existing === '' ? '*' : `*.${existing}`];
  const records = await db
    .selectFrom('dns_records')
    .selectAll()
    .where('domain', '=', domain)
    .where((eb) => eb.or([eb('sub', 'in', own), eb.and([eb('sub', 'in', [...subs, '']), eb('type', 'in', ['NS', 'DNAME'])])]))
    .orderBy('sub')
    .orderBy('type')
    .orderBy('data')
    .execute();
  return { sets: toRecordSets(records), closest };
}

/**
 * The index of the first of some subdomains that has a record, or a name below it has. Whatever is above such a name has one below it, too, so few
 * of them are looked for.
 *
 * @param subs Each is above the one before it.
 */
async function firstExisting(db: Db, domain: string, subs: readonly string[]): Promise<number> {
  let [first, end] = [0, subs.length];
  while (first < end) {
    const middle = Math.floor((first + end) / 2);
    const sub = subs[middle] ?? '';
    const record = await db
      .selectFrom('dns_records')
      .select('id')
      .where('domain', '=', domain)
      .where((eb) => eb.or([eb('sub', '=', sub), sql<boolean>`substr(sub, length(sub) - ${sub.length}) = ${`.${sub}`}`]))
      .limit(1)
      .executeTakeFirst();
    if (record) end = middle;
    else first = middle + 1;
  }
  return first;
}
