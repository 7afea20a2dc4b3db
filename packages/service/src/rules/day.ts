/** Days of the calendar in a time zone. */

const MS_PER_MINUTE = 60_000;
export const MS_PER_DAY = 86_400_000;
/** No time zone is further than this from UTC. */
const MAX_OFFSET_MINUTES = 15 * 60;

/** Whether a name such as `Europe/Berlin` is a time zone of the IANA database. */
export function isTimeZone(name: string): boolean {
  // The names of offsets, such as `+01:00`, have no daylight saving time.
  return /^[A-Za-z]/.test(name) && formatterOf(name) !== undefined;
}

/**
 * The day of an instant in a time zone.
 *
 * @param instant Milliseconds.
 * @throws RangeError if the time zone does not exist.
 */
export function dayIn(timeZone: string, instant: number): string {
  return daysIn(timeZone)(instant);
}

/**
 * The first instant of a day in a time zone, in milliseconds. It is not midnight if the clocks skip midnight on this day.
 *
 * @throws RangeError if the time zone does not exist.
 */
export function startOfDay(timeZone: string, day: string): number {
  const dayOf = daysIn(timeZone);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  let before = -MAX_OFFSET_MINUTES;
  let within = MAX_OFFSET_MINUTES;
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2);
    if (dayOf(midnight + middle * MS_PER_MINUTE) < day) before = middle;
    else within = middle;
  }
  return midnight + within * MS_PER_MINUTE;
}

/**
 * The day of an instant in UTC, for what is in UTC by rule: the months of billing, of usage and of spending, and the registries. People read
 * `dayIn` the time zone of the provider.
 *
 * @param instant Milliseconds.
 */
export function utcDay(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

/** The day after a day. */
export function dayAfter(day: string): string {
  return utcDay(Date.parse(`${day}T00:00:00Z`) + MS_PER_DAY);
}

/**
 * Formats instants in milliseconds as `2026-12-01 13:05` in a time zone, with seconds only if there are some.
 *
 * @throws RangeError if the time zone does not exist.
 */
export function minutesIn(timeZone: string): (instant: number) => string {
  const known = minuteFormats.get(timeZone);
  if (known) return known;
  // Swedish is written in this order.
  const formatter = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  function format(instant: number): string {
    return formatter.format(instant).replace(/:00$/, '');
  }
  minuteFormats.set(timeZone, format);
  return format;
}

/** By time zone. A formatter takes 0.1 ms to make, and an invoice can have thousands of lines. */
const minuteFormats = new Map<string, (instant: number) => string>();
const dayFormatters = new Map<string, Intl.DateTimeFormat>();

function daysIn(timeZone: string): (instant: number) => string {
  const formatter = formatterOf(timeZone);
  if (!formatter) throw new RangeError(`There is no time zone '${timeZone}'.`);
  return (instant) => {
    const parts = new Map(formatter.formatToParts(instant).map(({ type, value }) => [type, value]));
    return `${parts.get('year')?.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
  };
}

function formatterOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const known = dayFormatters.get(timeZone);
  if (known) return known;
  try {
    const formatter = new Intl.DateTimeFormat('en', { timeZone, calendar: 'gregory', year: 'numeric', month: '2-digit', day: '2-digit' });
    dayFormatters.set(timeZone, formatter);
    return formatter;
  } catch {
    return undefined;
  }
}
