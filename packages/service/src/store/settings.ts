/** Settings of the service as a whole. */
import { sql } from 'kysely';

import { MS_PER_DAY } from '../rules/day.ts';
import type { Mode } from '../rules/mode.ts';
import { DEFAULT_TIME_ZONE, DEFAULT_VAT_RATES } from '../rules/vat.ts';
import type { DatedVatRate } from '../rules/vat.ts';
import { prepared } from './prepared.ts';
import type { Db } from './store.ts';

/** An API key may send `requests` requests in `seconds` seconds. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

export interface StoredSettings {
  /** Milliseconds by which the clock is ahead of the machine's. */
  readonly clockOffset: number;
  /** The rate limit of keys without their own. */
  readonly rateLimit: RateLimit | null;
  /** In order of their dates. */
  readonly vatRates: readonly DatedVatRate[];
  /** IANA name of the time zone of the days of the rates. */
  readonly timeZone: string;
  /** Days for which the identifier of a removed VM stays unused. */
  readonly vmIdentifierQuarantine: number;
  /** Days for which a released address stays unused. */
  readonly addressQuarantine: number;
  readonly logRetention: LogRetention;
  /** Calendar months (UTC) before the current one whose audit records are kept, or null for all. */
  readonly auditRetention: number | null;
  readonly defaultQuotas: DefaultQuotas;
  /** Whether a second operator must confirm erasures and restores. */
  readonly secondOperator: boolean;
}

/** The quotas of a new account. Null for no limit. */
export interface DefaultQuotas {
  readonly vms: number | null;
  readonly handles: number | null;
  readonly recordsPerDomain: number | null;
}

const DEFAULT_RECORDS_PER_DOMAIN = 1_000;
/** The quotas of a new account until an operator sets others. */
const DEFAULT_QUOTAS: Readonly<Record<Mode, DefaultQuotas>> = {
  live: { vms: 100, handles: 1_000, recordsPerDomain: DEFAULT_RECORDS_PER_DOMAIN },
  sandbox: { vms: null, handles: null, recordsPerDomain: DEFAULT_RECORDS_PER_DOMAIN },
};

/** Which entries of the request log are kept. */
export interface LogRetention {
  /** Calendar months (UTC) before the current one, or null for all. */
  readonly months: number | null;
  /** Bytes of the newest entries of an account, or null for all. */
  readonly bytesPerAccount: number | null;
}

/** The rate limit of keys in live mode until an operator sets another one: 20 requests a second on average. */
export const DEFAULT_LIVE_RATE_LIMIT: RateLimit = { requests: 1_200, seconds: 60 };

/** The name of the setting. */
const TIME_ZONE = 'time_zone';
const DEFAULT_VM_IDENTIFIER_QUARANTINE_DAYS = 90;
/** The name of the setting, which is in milliseconds, so that SQL need not multiply. Default: a day. */
const ADDRESS_QUARANTINE = 'address_quarantine_ms';
/** About a million requests. Without a limit, one account could fill the disk. */
const DEFAULT_LOG_BYTES_PER_ACCOUNT = 512 * 2 ** 20;

/** The settings, with defaults for those that were never set. */
export async function readSettings(db: Db, mode: Mode): Promise<StoredSettings> {
  const rows = await db.selectFrom('settings').selectAll().execute();
  const values = new Map(rows.map(({ name, value }) => [name, value]));
  return {
    clockOffset: Number(values.get('clock_offset') ?? '0'),
    rateLimit: parseRateLimit(values.get('rate_limit'), mode),
    vatRates: parseVatRates(values.get('vat_rates')),
    timeZone: values.get(TIME_ZONE) ?? DEFAULT_TIME_ZONE,
    vmIdentifierQuarantine: parseQuarantine(values.get('vm_identifier_quarantine')),
    addressQuarantine: Number(values.get(ADDRESS_QUARANTINE) ?? MS_PER_DAY) / MS_PER_DAY,
    logRetention: parseRetention(values.get('request_log_retention')),
    auditRetention: parseMonths(values.get('audit_retention')),
    defaultQuotas: parseQuotas(values.get('default_quotas'), mode),
    secondOperator: values.get('second_operator') === 'true',
  };
}

/** The VAT rates, in order of their dates. */
export async function readVatRates(db: Db): Promise<readonly DatedVatRate[]> {
  const [row] = await settingNamed(db, { name: 'vat_rates' });
  return parseVatRates(row?.value);
}

/** IANA name of the time zone of the days of the VAT rates. */
export async function readTimeZone(db: Db): Promise<string> {
  return (await readSetting(db, TIME_ZONE)) ?? DEFAULT_TIME_ZONE;
}

/** Days for which the identifier of a removed VM stays unused. */
export async function readVmIdentifierQuarantine(db: Db): Promise<number> {
  const [row] = await settingNamed(db, { name: 'vm_identifier_quarantine' });
  return parseQuarantine(row?.value);
}

/** SQL: milliseconds for which a released address stays unused. A query reads it by itself, so that a purchase needs no further one. */
export const addressQuarantineMs = sql<number>`
  coalesce((select cast(value as bigint) from settings where name = ${sql.lit(ADDRESS_QUARANTINE)}), ${sql.lit(MS_PER_DAY)})`;

/** A setting that another module interprets. Undefined if it was never set. */
export async function readSetting(db: Db, name: string): Promise<string | undefined> {
  const [row] = await settingNamed(db, { name });
  return row?.value;
}

/** Which entries of the request log are kept. */
export async function readLogRetention(db: Db): Promise<LogRetention> {
  const [row] = await settingNamed(db, { name: 'request_log_retention' });
  return parseRetention(row?.value);
}

/** Calendar months before the current one whose audit records are kept, or null for all. */
export async function readAuditRetention(db: Db): Promise<number | null> {
  return parseMonths(await readSetting(db, 'audit_retention'));
}

/** The quotas of a new account. */
export async function readDefaultQuotas(db: Db, mode: Mode): Promise<DefaultQuotas> {
  return parseQuotas(await readSetting(db, 'default_quotas'), mode);
}

/** Whether a second operator must confirm erasures and restores. */
export async function readSecondOperator(db: Db): Promise<boolean> {
  return (await readSetting(db, 'second_operator')) === 'true';
}

const settingNamed = prepared<{ name: string }, { value: string }>((db, parameter) =>
  db.selectFrom('settings').select('value').where('name', '=', parameter('name')),
);

export function writeClockOffset(db: Db, milliseconds: number): Promise<void> {
  return writeSetting(db, 'clock_offset', String(milliseconds));
}

/** Returns the clock offset in milliseconds, and locks it until the transaction ends. */
export async function claimClockOffset(db: Db): Promise<number> {
  const { value } = await db
    .insertInto('settings')
    .values({ name: 'clock_offset', value: '0' })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(({ ref }) => ({ value: ref('settings.value') })))
    .returning('value')
    .executeTakeFirstOrThrow();
  return Number(value);
}

export function writeRateLimit(db: Db, limit: RateLimit | null): Promise<void> {
  return writeSetting(db, 'rate_limit', JSON.stringify(limit));
}

/** @param timeZone IANA name of the time zone of the days of the rates. */
export async function writeVatRates(db: Db, rates: readonly DatedVatRate[], timeZone: string): Promise<void> {
  await writeSetting(db, 'vat_rates', JSON.stringify(rates));
  await writeSetting(db, TIME_ZONE, timeZone);
}

/** @param days Days for which the identifier of a removed VM stays unused. */
export function writeVmIdentifierQuarantine(db: Db, days: number): Promise<void> {
  return writeSetting(db, 'vm_identifier_quarantine', String(days));
}

/** @param days Days for which a released address stays unused. */
export function writeAddressQuarantine(db: Db, days: number): Promise<void> {
  return writeSetting(db, ADDRESS_QUARANTINE, String(days * MS_PER_DAY));
}

export function writeLogRetention(db: Db, retention: LogRetention): Promise<void> {
  return writeSetting(db, 'request_log_retention', JSON.stringify(retention));
}

export function writeAuditRetention(db: Db, months: number | null): Promise<void> {
  return writeSetting(db, 'audit_retention', JSON.stringify(months));
}

export function writeDefaultQuotas(db: Db, quotas: DefaultQuotas): Promise<void> {
  return writeSetting(db, 'default_quotas', JSON.stringify(quotas));
}

export function writeSecondOperator(db: Db, isRequired: boolean): Promise<void> {
  return writeSetting(db, 'second_operator', String(isRequired));
}

export async function writeSetting(db: Db, name: string, value: string): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

function parseRateLimit(text: string | undefined, mode: Mode): RateLimit | null {
  if (text === undefined) return mode === 'live' ? DEFAULT_LIVE_RATE_LIMIT : null;
  const limit: RateLimit | null = JSON.parse(text);
  return limit;
}

function parseQuotas(text: string | undefined, mode: Mode): DefaultQuotas {
  // An earlier version stored them without the records of a domain.
  const stored: Partial<DefaultQuotas> = JSON.parse(text ?? '{}');
  return { ...DEFAULT_QUOTAS[mode], ...stored };
}

function parseVatRates(text: string | undefined): readonly DatedVatRate[] {
  if (text === undefined) return DEFAULT_VAT_RATES;
  const rates: DatedVatRate[] = JSON.parse(text);
  return rates;
}

function parseRetention(text: string | undefined): LogRetention {
  if (text === undefined) return { months: null, bytesPerAccount: DEFAULT_LOG_BYTES_PER_ACCOUNT };
  const retention: LogRetention = JSON.parse(text);
  return retention;
}

function parseMonths(text: string | undefined): number | null {
  const months: unknown = JSON.parse(text ?? 'null');
  return typeof months === 'number' ? months : null;
}

function parseQuarantine(text: string | undefined): number {
  return text === undefined ? DEFAULT_VM_IDENTIFIER_QUARANTINE_DAYS : Number(text);
}
