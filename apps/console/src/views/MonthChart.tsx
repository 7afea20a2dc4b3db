import 'uplot/dist/uPlot.min.css';
import type { AccountCurrentInvoice } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

import { queryOf } from '../api/queries.ts';
import { courseOf } from './month.ts';
import type { Course } from './month.ts';

const HEIGHT = 180;

/** The amount of the running invoice, by day. */
export function MonthChart({ invoice }: { readonly invoice: AccountCurrentInvoice }) {
  const box = useRef<HTMLDivElement>(null);
  // It has the time of the clock of the service, which in a sandbox is ahead.
  const { data } = useQuery({ ...queryOf('getDueWork', { query: { limit: 1 } }), refetchInterval: 5_000 });
  const now = data?.now;
  useEffect(() => {
    const element = box.current;
    if (element === null || now === undefined) return undefined;
    const course = courseOf(invoice, Date.parse(now) / 1000);
    let chart = draw(element, course);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    const scheme = globalThis.matchMedia('(prefers-color-scheme: dark)');
    function redraw(): void {
      chart.destroy();
      if (element !== null) chart = draw(element, course);
    }
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      observer.disconnect();
      chart.destroy();
    };
  }, [invoice, now]);
  const label = `The running invoice by day: ${invoice.total} EUR so far, ${invoice.estimated_total} EUR estimated at the end of the month`;
  return <div ref={box} className="chart" role="img" aria-label={label} />;
}

function draw(element: HTMLElement, { times, actual, expected }: Course): uPlot {
  const style = getComputedStyle(element);
  // A canvas cannot read light-dark(), so the style sheet gives the colours as properties of the box.
  const { caretColor: ink, color: accent, borderTopColor: line } = style;
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: '11px system-ui' };
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      axes: [
        { ...axis, values: [[86_400, '{D}.{M}.', null, null, null, null, null, null, 1]] },
        { ...axis, size: 60 },
      ],
      series: [
        {},
        { stroke: accent, width: 2, points: { show: false } },
        { stroke: accent, width: 1.5, dash: [4, 4], points: { show: false } },
      ],
    },
    [times, actual, expected],
    element,
  );
}
