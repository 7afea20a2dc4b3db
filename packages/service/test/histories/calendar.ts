/** Months, years and days of the provider, from the documents: months are UTC, days are those of the provider's time zone. */

/** Seconds since 1970. */
export type Seconds = number;

export const DAY = 86_400;

/** The first second of the month of an instant. */
export function monthOf(instant: Seconds): Seconds {
  const date = new Date(instant * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000;
}

/** The first second of the month after that of an instant. */
export function monthAfter(instant: Seconds): Seconds {
  const date = new Date(instant * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / 1000;
}

/** The same day a year later. The year after the 29th of February ends on the 28th. */
export function yearAfter(instant: Seconds): Seconds {
  const date = new Date(instant * 1000);
  const [month, day] = [date.getUTCMonth(), date.getUTCDate()];
  const last = new Date(Date.UTC(date.getUTCFullYear() + 1, month + 1, 0)).getUTCDate();
  return date.setUTCFullYear(date.getUTCFullYear() + 1, month, Math.min(day, last)) / 1000;
}

export function iso(instant: Seconds): string {
  return new Date(instant * 1000).toISOString();
}

/** The day of an instant in a time zone, as `2026-11-30`. */
export function dayIn(zone: string, instant: Seconds): string {
  // Swedish writes days as ISO 8601 does.
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(instant * 1000);
}

/** The first second of a day in a time zone: the first one whose local day it is. */
export function midnight(zone: string, day: string): Seconds {
  // No zone is further from UTC than 14 hours.
  let [before, after] = [Date.parse(day) / 1000 - 15 * 3600, Date.parse(day) / 1000 + 15 * 3600];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dayIn(zone, middle) < day) before = middle;
    else after = middle;
  }
  return after;
}

/** A day some days later. */
export function plusDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY * 1000).toISOString().slice(0, 10);
}
