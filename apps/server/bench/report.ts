/** The results of the benchmark as JSON and as a chart. */
import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';

import { isReached, median, short } from '../../../.config/bench-row.ts';
import type { Row } from '../../../.config/bench-row.ts';

/** The machine on which the figures were measured. */
export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} x ${cpu?.model ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.version}`;
}

/** Writes report.json and report.svg to a folder. */
export function writeReport(folder: string, rows: readonly Row[]): void {
  const report = {
    measured: new Date().toISOString(),
    machine: machine(),
    rows: rows.map((row) => ({ ...row, median: median(row.rounds), isReached: isReached(row) })),
  };
  writeFileSync(`${folder}/report.json`, `${JSON.stringify(report, undefined, 2)}\n`);
  writeFileSync(`${folder}/report.svg`, chartOf(rows));
}

const LINE_HEIGHT = 28;
const BAR_START = 430;
const BAR_WIDTH = 300;

/** One bar for each row, in units of its target, which a line marks. */
function chartOf(rows: readonly Row[]): string {
  const bars = rows.map((row, index) => {
    const y = 40 + index * LINE_HEIGHT;
    const width = Math.min(BAR_WIDTH, (median(row.rounds) / row.target.value) * (BAR_WIDTH / 2));
    return [
      `<text x="10" y="${y + 14}">${escaped(row.name)}</text>`,
      `<rect x="${BAR_START}" y="${y}" width="${width.toFixed(1)}" height="18" fill="${isReached(row) ? '#2a7d4f' : '#b3541e'}"/>`,
      `<text x="${BAR_START + BAR_WIDTH + 12}" y="${y + 14}">${escaped(`${short(median(row.rounds))} ${row.unit}, ${row.target.kind} ${row.target.value}`)}</text>`,
    ].join('');
  });
  const height = 50 + rows.length * LINE_HEIGHT;
  const middle = BAR_START + BAR_WIDTH / 2;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="960" height="${height}" font-family="sans-serif" font-size="13"><text x="10" y="20">${escaped(machine())}</text>${bars.join('')}<line x1="${middle}" x2="${middle}" y1="34" y2="${height - 8}" stroke="#333" stroke-dasharray="4 3"/></svg>\n`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
