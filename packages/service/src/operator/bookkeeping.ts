import { bookkeepingCsv } from '../core/accounting/bookkeeping.ts';
import type { TimeRange } from '../core/accounting/bookkeeping.ts';
import { dayAfter, dayIn, MS_PER_DAY, startOfDay } from '../rules/day.ts';
import { readTimeZone } from '../store/settings.ts';
import type { StreamOperation } from './operation.ts';
import { malformed } from './problem.ts';

const MAX_DAYS = 366;
const MS_PER_HOUR = 3_600_000;

/** GET /bookkeeping/{table} */
export const exportBookkeeping: StreamOperation<'exportBookkeeping'> = {
  kind: 'stream',
  async run({ path: { table }, query, now, runtime: { store } }) {
    const timeZone = await store.read(readTimeZone);
    const { to = dayIn(timeZone, now) } = query;
    // The month of the last day.
    const { from = `${to.slice(0, -2)}01` } = query;
    // Months of billing, and so the dates of documents, are in UTC.
    return bookkeepingCsv(store, table, timeRangeOf(table === 'payments' ? timeZone : 'UTC', { from, to }));
  },
};

/** @throws OperatorProblem 400 if the days are not a range of at most a year. */
function timeRangeOf(timeZone: string, { from, to }: { from: string; to: string }): TimeRange {
  const [start, end] = [startOfDay(timeZone, from), startOfDay(timeZone, dayAfter(to))];
  if (start >= end) throw malformed('The query parameter to must not be before from.');
  // One of the days can have 25 hours.
  if (end - start > MAX_DAYS * MS_PER_DAY + MS_PER_HOUR)
    throw malformed(`The days from ${from} to ${to} are more than ${MAX_DAYS}. Export a shorter range.`);
  return { from: start, to: end - 1 };
}
