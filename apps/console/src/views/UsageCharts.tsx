import type { VmTrafficDay, VmUsageSample } from '@reseller/operator-client';
import { useMemo } from 'react';
import uPlot from 'uplot';

import { TimeChart } from './TimeChart.tsx';
import type { Colours } from './TimeChart.tsx';
import { cpuCourse, trafficCourse } from './usage.ts';

const DAY_S = 86_400;
const HOURS = [[3_600, '{HH}:{mm}', null, null, null, null, null, null, 1]];
const DAYS = [[DAY_S, '{D}.{M}.', null, null, null, null, null, null, 1]];

/** CPU in the last 24 hours, in percent of all cores. */
export function CpuChart({ samples, interval }: { readonly samples: readonly VmUsageSample[]; readonly interval: number }) {
  const data = useMemo(() => cpuCourse(samples, interval), [samples, interval]);
  return <TimeChart label={`CPU in percent, ${samples.length} samples`} data={data} seriesIn={cpuSeries} timeFormat={HOURS} />;
}

function cpuSeries({ accent }: Colours): uPlot.Series[] {
  // Without a line to another sample, a sample would be invisible. The library draws points only where there is room for them.
  return [{ stroke: accent, width: 2 }];
}

/** Traffic in GB: a bar for each day, whose lower part was received. */
export function TrafficChart({ days }: { readonly days: readonly VmTrafficDay[] }) {
  const data = useMemo(() => trafficCourse(days), [days]);
  return (
    <TimeChart
      label={`Traffic in GB by day, ${days.length} days`}
      data={data}
      seriesIn={trafficSeries}
      timeFormat={DAYS}
      margin={DAY_S / 2}
    />
  );
}

function trafficSeries({ accent, ink }: Colours): uPlot.Series[] {
  const paths = uPlot.paths.bars?.({ size: [0.7, 24] });
  const bar = { width: 0, points: { show: false }, ...(paths && { paths }) };
  return [
    { ...bar, fill: accent },
    { ...bar, fill: ink },
  ];
}
