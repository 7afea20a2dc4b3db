import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';

import { queryOf } from '../api/queries.ts';
import { Facts, Failure, Instant, Section } from '../ui/controls.tsx';
import { ErrorBoundary } from '../ui/ErrorBoundary.tsx';
import { binaryGigabytes, gigabytes, megabitsPerSecond } from './usage.ts';

const CpuChart = lazy(async () => ({ default: (await import('./UsageCharts.tsx')).CpuChart }));
const TrafficChart = lazy(async () => ({ default: (await import('./UsageCharts.tsx')).TrafficChart }));

/** The present use of a VM with its CPU in the last 24 hours, and its traffic by day. */
export function VmUsage({ id }: { readonly id: string }) {
  const path = { vm_id: id };
  const { data: usage, error } = useQuery({ ...queryOf('getVmUsage', { path }), refetchInterval: 30_000 });
  const { data: traffic } = useQuery({ ...queryOf('getVmTraffic', { path }), refetchInterval: 30_000 });
  const present = usage?.samples.at(-1);
  const month = traffic?.months.at(-1);
  return (
    <Section title="Usage">
      {error !== null && <Failure error={error} />}
      {usage && !present && <p className="muted">The VM was not measured in the last 24 hours.</p>}
      {present && (
        <Facts
          items={[
            ['Measured', <Instant key="at" at={present.at} />],
            ['CPU', present.cpu === null ? 'not measured' : `${present.cpu} %`],
            ['Memory', binaryGigabytes(present.mem)],
            ['Disk', binaryGigabytes(present.disk)],
            ['Received', megabitsPerSecond(present.received)],
            ['Sent', megabitsPerSecond(present.sent)],
          ]}
        />
      )}
      {usage && present && (
        <Chart title="CPU in percent of all cores, 24 hours (UTC)">
          <CpuChart samples={usage.samples} interval={usage.interval} />
        </Chart>
      )}
      {traffic && (
        <p className="muted">
          {month ? `${gigabytes(month.total)} of traffic in ${month.month}. ` : 'No traffic was counted. '}
          {traffic.included === null ? 'The host system has no limit.' : `${traffic.included / 1e9} GB are included in a month.`}
        </p>
      )}
      {traffic && month && (
        <Chart title="Traffic in GB by day (UTC), with the received part below">
          <TrafficChart days={traffic.days} />
        </Chart>
      )}
    </Section>
  );
}

function Chart({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <ErrorBoundary fallback={<p className="muted">This browser cannot draw the chart.</p>}>
      <p className="muted">{title}</p>
      <Suspense fallback={<div className="chart" />}>{children}</Suspense>
    </ErrorBoundary>
  );
}
