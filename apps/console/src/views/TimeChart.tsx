import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

const HEIGHT = 180;

/** The colours of a chart. A canvas cannot read light-dark(), so the style sheet gives them as properties of the box. */
export interface Colours {
  readonly ink: string;
  readonly accent: string;
}

interface TimeChartProps {
  /** The content of the chart in words. */
  readonly label: string;
  /** Times in seconds, and the values of each series. */
  readonly data: uPlot.AlignedData;
  /** Must stay the same function while the data does, because another one draws the chart again. */
  readonly seriesIn: (colours: Colours) => uPlot.Series[];
  /** Labels of the times, in uPlot's notation. */
  readonly timeFormat: uPlot.Axis.Values;
  /** Seconds before the first and after the last time, such as for half a bar. */
  readonly margin?: number;
}

/** A chart of values over time (UTC). */
export function TimeChart({ label, data, seriesIn, timeFormat, margin = 0 }: TimeChartProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const plot = { data, seriesIn, timeFormat, margin };
    let chart = draw(element, plot);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    const scheme = globalThis.matchMedia('(prefers-color-scheme: dark)');
    function redraw(): void {
      chart.destroy();
      if (element !== null) chart = draw(element, plot);
    }
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      observer.disconnect();
      chart.destroy();
    };
  }, [data, seriesIn, timeFormat, margin]);
  return <div ref={box} className="chart" role="img" aria-label={label} />;
}

function draw(element: HTMLElement, { data, seriesIn, timeFormat, margin }: Required<Omit<TimeChartProps, 'label'>>): uPlot {
  const { caretColor: ink, color: accent, borderTopColor: line } = getComputedStyle(element);
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: '11px system-ui' };
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      scales: {
        x: { range: (_chart, first, last) => [first - margin, last + margin] },
        y: { range: (_chart, _least, most) => uPlot.rangeNum(0, most || 1, 0.1, true) },
      },
      axes: [
        { ...axis, values: timeFormat },
        { ...axis, size: 60 },
      ],
      series: [{}, ...seriesIn({ ink, accent })],
    },
    data,
    element,
  );
}
