/** DNS records of domains. A name may have several records of a type, but none next to a CNAME (RFC 1034, 3.6.2) and none below a DNAME. */
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import { DEFAULTS } from '../../generated/facts.gen.ts';
import type { Ports } from '../../ports/ports.ts';
import { conflictOf, SINGLE_TYPES } from '../../rules/dns-record.ts';
import type { DnsRecord } from '../../rules/dns-record.ts';
import { notFound, Refusal } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import type { DnsRecordsTable } from '../../store/tables/domains.ts';
import { assertRecordQuota } from '../account/quota.ts';

export type DnsRecordRow = Selectable<DnsRecordsTable>;

/** A domain whose records are read or changed. */
export interface Zone {
  readonly accountId: string;
  /** ASCII form. */
  readonly domain: string;
}

/** All records of a domain, by name, type and data. */
export function recordsOf(db: Db, { domain }: Zone): Promise<DnsRecordRow[]> {
  return db.selectFrom('dns_records').selectAll().where('domain', '=', domain).orderBy('sub').orderBy('type').orderBy('data').execute();
}

/** @throws Refusal 404 if the domain has no such record. */
export async function recordOf(db: Db, { domain }: Zone, id: string): Promise<DnsRecordRow> {
  const record = await db.selectFrom('dns_records').selectAll().where('domain', '=', domain).where('id', '=', id).executeTakeFirst();
  if (!record) throw notFound('DNS record');
  return record;
}

/** A record to store. */
export interface NewDnsRecord {
  readonly zone: Zone;
  readonly record: DnsRecord;
  /** Seconds. Default: that of the other records of the name and type, or the default of the document. */
  readonly ttl?: number | undefined;
}

/**
 * Adds a record.
 *
 * @throws Refusal 409 if the domain has the same record or as many as possible, or the record conflicts with another one.
 */
export async function addRecord(db: Db, ports: Ports, { zone, record, ttl }: NewDnsRecord): Promise<DnsRecordRow> {
  const others = await lockedRecordsAt(db, zone, record.sub);
  await assertAddable(db, zone, record, { others });
  return insertRecord(db, ports, { zone, record, ttl }, others);
}

/**
 * Adds a record unless the domain has it. A CNAME, ALIAS or DNAME replaces that of its name, because a name has at most one.
 *
 * @throws Refusal 409 if the record conflicts with another one, or the domain has as many as possible.
 */
export async function ensureRecord(db: Db, ports: Ports, { zone, record }: NewDnsRecord): Promise<void> {
  const others = await lockedRecordsAt(db, zone, record.sub);
  if (others.some((other) => isSame(record, other))) return;
  const single = SINGLE_TYPES.includes(record.type) ? others.find(({ type }) => type === record.type) : undefined;
  if (single) {
    await db.updateTable('dns_records').set({ data: record.data, changed: ports.clock.now() }).where('id', '=', single.id).execute();
    return;
  }
  await assertAddable(db, zone, record, { others });
  await insertRecord(db, ports, { zone, record }, others);
}

/**
 * Replaces a record. It keeps its identifier.
 *
 * @throws Refusal 409 if the domain has the same record, or the record conflicts with another one.
 */
export async function replaceRecord(
  db: Db,
  ports: Ports,
  { zone, record, ttl }: NewDnsRecord,
  { id, ttl: present }: DnsRecordRow,
): Promise<DnsRecordRow> {
  const others = (await lockedRecordsAt(db, zone, record.sub)).filter((other) => other.id !== id);
  await assertAddable(db, zone, record, { others, replaced: id });
  const newTtl = ttl ?? others.find(({ type }) => type === record.type)?.ttl ?? present;
  await setTtl(db, zone, record, newTtl);
  const { sub, type, data } = record;
  return db
    .updateTable('dns_records')
    .set({ sub, type, data, ttl: newTtl, changed: ports.clock.now() })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function insertRecord(
  db: Db,
  { clock, random }: Ports,
  { zone, record, ttl }: NewDnsRecord,
  others: readonly DnsRecordRow[],
): Promise<DnsRecordRow> {
  await assertRecordQuota(db, zone);
  const now = clock.now();
  const newTtl = ttl ?? others.find(({ type }) => type === record.type)?.ttl ?? DEFAULTS.AddDomainDnsForm.ttl;
  await setTtl(db, zone, record, newTtl);
  const { sub, type, data } = record;
  const id = uuidv7({ msecs: now, random: random.bytes(16) });
  return db
    .insertInto('dns_records')
    .values({ id, domain: zone.domain, sub, type, data, ttl: newTtl, changed: now })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** All records of a name and type have one TTL (RFC 2181, 5.2). */
async function setTtl(db: Db, { domain }: Zone, { sub, type }: DnsRecord, ttl: number): Promise<void> {
  await db
    .updateTable('dns_records')
    .set({ ttl })
    .where('domain', '=', domain)
    .where('sub', '=', sub)
    .where('type', '=', type)
    .where('ttl', '!=', ttl)
    .execute();
}

/** The records of a name. The account is locked, so that no concurrent request adds a record that conflicts. */
async function lockedRecordsAt(db: Db, { accountId, domain }: Zone, sub: string): Promise<DnsRecordRow[]> {
  await lockAccount(db, accountId);
  return db.selectFrom('dns_records').selectAll().where('domain', '=', domain).where('sub', '=', sub).orderBy('id').execute();
}

interface Neighbours {
  /** The other records of the name. */
  readonly others: readonly DnsRecordRow[];
  /** Identifier of the record that is replaced. */
  readonly replaced?: string;
}

async function assertAddable(db: Db, zone: Zone, record: DnsRecord, { others, replaced = '' }: Neighbours): Promise<void> {
  const { domain } = zone;
  if (others.some((other) => isSame(record, other))) {
    throw new Refusal(409, 'wrong_state', `The domain ${domain} already has this record. Change it by its record_id, or add other data.`);
  }
  const name = recordNameOf({ domain, sub: record.sub });
  for (const { type } of others) {
    const conflict = conflictOf(record.type, type);
    if (conflict !== undefined)
      throw new Refusal(
        409,
        'wrong_state',
        `${conflict} of the name ${name}, which has a record of the type ${type}. Remove that record first, or choose another name.`,
      );
  }
  const hidden = await hiddenBy(db, zone, record, replaced);
  if (hidden)
    throw new Refusal(
      409,
      'wrong_state',
      `A DNAME replaces all names below its own, but ${hidden.below} is below ${hidden.dname}. Remove ${hidden.below === name ? 'the DNAME' : 'the records below it'} first, or choose another name.`,
    );
}

/** A DNAME and a name below it, one of which is that of the record (RFC 6672, 2.4). */
async function hiddenBy(
  db: Db,
  { domain }: Zone,
  { type, sub }: DnsRecord,
  replaced: string,
): Promise<{ readonly dname: string; readonly below: string } | undefined> {
  const name = recordNameOf({ domain, sub });
  const others = db.selectFrom('dns_records').select('sub').where('domain', '=', domain).where('id', '!=', replaced).orderBy('sub');
  const dnames = await others.where('type', '=', 'DNAME').execute();
  const above = dnames.map((record) => recordNameOf({ domain, sub: record.sub })).find((dname) => name.endsWith(`.${dname}`));
  if (above !== undefined) return { dname: above, below: name };
  if (type !== 'DNAME') return undefined;
  // An underscore of the name matches any character, so the names are compared again.
  const below = await others.where('sub', sub === '' ? '!=' : 'like', sub === '' ? '' : `%.${sub}`).execute();
  const first = below.map((record) => recordNameOf({ domain, sub: record.sub })).find((other) => other.endsWith(`.${name}`));
  return first === undefined ? undefined : { dname: name, below: first };
}

function isSame(record: DnsRecord, { type, data }: DnsRecordRow): boolean {
  return record.type === type && record.data === data;
}

/** Full name of a record. */
export function recordNameOf({ domain, sub }: Pick<DnsRecordRow, 'domain' | 'sub'>): string {
  return sub === '' ? domain : `${sub}.${domain}`;
}
