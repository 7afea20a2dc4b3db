/**
 * Measures the service next to bare programs that do as little as possible, in alternating rounds, because machines differ. It prints each
 * row when it is known, and writes report.json and report.svg.
 */
import { parseArgs } from 'node:util';

import { lineOf } from '../../../.config/bench-row.ts';
import type { Row } from '../../../.config/bench-row.ts';
import { installTestTools } from '../../../.config/test-tools.ts';
import { embeddedRows } from './embedded.ts';
import { postgresRows } from './postgres.ts';
import { buildPrograms, rowsOf, startPostgres } from './processes.ts';
import { machine, writeReport } from './report.ts';

export interface Plan {
  readonly seconds: number;
  readonly rounds: number;
  readonly minutes: number;
  /** What one account has piled up of each kind. */
  readonly rows: number;
  /** Shows what is being measured. */
  progress(text: string): void;
}

const LARGE_ACCOUNT_VMS = '20000';

const GROUPS: Readonly<Record<string, (plan: Plan) => AsyncIterable<Row>>> = {
  embedded: embeddedRows,
  postgres: postgresRows,
  'month-end': ({ rounds }) => rowsOf('packages/service/bench/month-end.ts', [String(rounds)]),
  'worst-request': ({ rounds }) => rowsOf('packages/service/bench/worst-request.ts', [String(rounds)]),
  'large-account': () => onBothEngines('packages/service/bench/large-account.ts', LARGE_ACCOUNT_VMS),
  neighbours: ({ rows }) => onBothEngines('packages/service/bench/neighbours.ts', String(rows)),
  client: () => rowsOf('packages/testing/bench/main.ts', []),
  contract: () => rowsOf('apps/contract-tests/bench/main.ts', []),
};

/** The option of Node with which `deploy/` starts the service. */
const DEPLOYED = ['--max-semi-space-size=8'];

async function* onBothEngines(script: string, size: string): AsyncGenerator<Row> {
  yield* rowsOf(script, [size], DEPLOYED);
  const postgres = await startPostgres();
  yield* rowsOf(script, [size, await postgres.newDatabase()], DEPLOYED);
  await postgres.stop();
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '2' },
    rows: { type: 'string', default: '1000000' },
    only: { type: 'string', default: Object.keys(GROUPS).join() },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npx -y pnpm@12 bench [--seconds 3] [--rounds 3] [--minutes 2] [--rows 1000000] [--only GROUP,...]

  --seconds  duration of a measurement
  --rounds   how often each is repeated
  --minutes  duration of the mixed load
  --rows     what one account has piled up of each kind, in the group neighbours
  --only     ${Object.keys(GROUPS).join(', ')}

All groups take about 12 minutes.
`);
  process.exit();
}
const begun = performance.now();
const plan: Plan = {
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  minutes: Number(values.minutes),
  rows: Number(values.rows),
  progress: (text) => void process.stderr.write(`${Math.round((performance.now() - begun) / 1000)} s  ${text}\n`),
};
await installTestTools();
process.stdout.write(`${machine()}\n`);
await buildPrograms();
const rows: Row[] = [];
for (const name of values.only.split(',')) {
  const measure = GROUPS[name];
  if (!measure) throw new Error(`There is no group ${name}. The groups are ${Object.keys(GROUPS).join(', ')}.`);
  plan.progress(name);
  for await (const row of measure(plan)) {
    rows.push(row);
    process.stdout.write(`${lineOf(row)}\n`);
    writeReport(import.meta.dirname, rows);
  }
}
