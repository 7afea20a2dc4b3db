import { bookkeepingCsv } from '../core/accounting/bookkeeping.ts';
import type { TimeRange } from '../core/accounting/bookkeeping.ts';
import { dayOf } from '../core/accounting/invoice-document/content.ts';
import { MS_PER_DAY } from '../rules/day.ts';
import { startOfUtcDay } from '../rules/instants.ts';
import type { StreamOperation } from './operation.ts';
import { malformed } from './problem.ts';

const MAX_DAYS = 366;

/** GET /bookkeeping/{table} */
export const exportBookkeeping: StreamOperation<'exportBookkeeping'> = {
  kind: 'stream',
  async run({ path: { table }, query, now, runtime: { store } }) {
    const { to = dayOf(now / 1000) } = query;
    // The month of the last day.
    const { from = `${to.slice(0, -2)}01` } = query;
    return bookkeepingCsv(store, table, timeRangeOf({ from, to }));
  },
};

/** @throws OperatorProblem 400 if the days are not a range of at most a year. */
function timeRangeOf({ from, to }: { from: string; to: string }): TimeRange {
  const [start, end] = [startOfUtcDay(from), startOfUtcDay(to) + MS_PER_DAY];
  if (start >= end) throw malformed('The query parameter to must not be before from.');
  if (end - start > MAX_DAYS * MS_PER_DAY)
    throw malformed(`The days from ${from} to ${to} are more than ${MAX_DAYS}. Export a shorter range.`);
  return { from: start, to: end - 1 };
}
