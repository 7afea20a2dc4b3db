/** Settings of the service as a whole: the clock of a sandbox, and the rate limit of keys that have none of their own. */
import type { Db } from './store.ts';

/** How many requests a key may send in how many seconds. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

export interface StoredSettings {
  /** Milliseconds that the clock is ahead of the machine's. */
  readonly clockOffset: number;
  readonly rateLimit: RateLimit | null;
}

/** The settings; what was never set is as it is at the first start. */
export async function readSettings(db: Db): Promise<StoredSettings> {
  const rows = await db.selectFrom('settings').selectAll().execute();
  const values = new Map(rows.map(({ name, value }) => [name, value]));
  return { clockOffset: Number(values.get('clock_offset') ?? '0'), rateLimit: limitOf(values.get('rate_limit') ?? 'null') };
}

export function writeClockOffset(db: Db, milliseconds: number): Promise<void> {
  return write(db, 'clock_offset', String(milliseconds));
}

/** How far the clock is ahead of the machine's, in milliseconds; nobody else changes it until the unit of work ends. */
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
  return write(db, 'rate_limit', JSON.stringify(limit));
}

async function write(db: Db, name: string, value: string): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

function limitOf(text: string): RateLimit | null {
  const limit: RateLimit | null = JSON.parse(text);
  return limit;
}
