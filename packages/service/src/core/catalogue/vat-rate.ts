import { sql } from 'kysely';

import { dayAfter, dayIn, startOfDay } from '../../rules/day.ts';
import type { Db } from '../../store/store.ts';

/**
 * The first day on which another VAT rate can begin: today, or tomorrow if something was supplied today. So whatever was sold at a gross price is
 * invoiced at this price.
 *
 * @param now Milliseconds.
 */
export async function firstDayOfNewRate(db: Db, timeZone: string, now: number): Promise<string> {
  const today = dayIn(timeZone, now);
  return (await isSuppliedSince(db, startOfDay(timeZone, today) / 1000)) ? dayAfter(today) : today;
}

/** Whether anything was ever sold. */
export function isSupplied(db: Db): Promise<boolean> {
  return isSuppliedSince(db, 0);
}

/** @param start Seconds. */
async function isSuppliedSince(db: Db, start: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 where
      exists (select 1 from positions where stop is null or stop > ${start})
      or exists (select 1 from charges where start >= ${start})
      or exists (select 1 from invoices where period_end > ${start})
      or exists (select 1 from reservations)
  `.execute(db);
  return rows.length > 0;
}
