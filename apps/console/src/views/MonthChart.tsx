import type { AccountCurrentInvoice } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { queryOf } from '../api/queries.ts';
import { courseOf } from './month.ts';
import { TimeChart } from './TimeChart.tsx';
import type { Colours } from './TimeChart.tsx';

const DAYS = [[86_400, '{D}.{M}.', null, null, null, null, null, null, 1]];

/** The amount of the running invoice, by day. */
export function MonthChart({ invoice }: { readonly invoice: AccountCurrentInvoice }) {
  // It has the time of the clock of the service, which in a sandbox is ahead.
  const { data } = useQuery({ ...queryOf('getDueWork', { query: { limit: 1 } }), refetchInterval: 5_000 });
  const now = data?.now;
  const course = useMemo(() => (now === undefined ? undefined : courseOf(invoice, Date.parse(now) / 1000)), [invoice, now]);
  if (course === undefined) return <div className="chart" />;
  const label = `The running invoice by day: ${invoice.total} EUR so far, ${invoice.estimated_total} EUR estimated at the end of the month`;
  return <Course label={label} {...course} />;
}

function Course({ label, times, actual, expected }: ReturnType<typeof courseOf> & { readonly label: string }) {
  const data = useMemo<[number[], (number | null)[], (number | null)[]]>(() => [times, actual, expected], [times, actual, expected]);
  return <TimeChart label={label} data={data} seriesIn={seriesIn} timeFormat={DAYS} />;
}

function seriesIn({ accent }: Colours) {
  return [
    { stroke: accent, width: 2, points: { show: false } },
    { stroke: accent, width: 1.5, dash: [4, 4], points: { show: false } },
  ];
}
