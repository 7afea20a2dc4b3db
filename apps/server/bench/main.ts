/**
 * Measures the service next to bare programs that do the least possible work, in alternating rounds, because machines differ. It prints each
 * row when it is known, and writes report.json and report.svg.
 *
 *   npx pnpm@12 --filter @reseller/server bench [seconds per measurement, default 4] [rounds, default 3] [minutes of mixed load, default 10]
 */
import { join } from 'node:path';

import { installTestTools } from '../../../.config/test-tools.ts';
import { embeddedRows } from './embedded.ts';
import { postgresRows } from './postgres.ts';
import { lineOf, machine, writeReport } from './report.ts';
import type { Row } from './report.ts';

export interface Plan {
  readonly seconds: number;
  readonly rounds: number;
  readonly minutes: number;
  /** Shows what is being measured. */
  progress(text: string): void;
}

const [seconds = 4, rounds = 3, minutes = 10] = process.argv.slice(2).map(Number);
const plan: Plan = { seconds, rounds, minutes, progress: (text) => void process.stderr.write(`… ${text}\n`) };
installTestTools();
process.stdout.write(`${machine()}\n`);
const rows: Row[] = [];
for (const measure of [embeddedRows, postgresRows]) {
  for await (const row of measure(plan)) {
    rows.push(row);
    process.stdout.write(`${lineOf(row)}\n`);
    writeReport(join(import.meta.dirname), rows);
  }
}
