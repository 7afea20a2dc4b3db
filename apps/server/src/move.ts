/** Copies an embedded store into an empty PostgreSQL database; README.md, "Moving to PostgreSQL". */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { errorText } from '@reseller/contract/is-error';
import { readDatabaseUrl } from '@reseller/service/configuration';
import { MoveDiffersError, moveStore, StoreOpenError } from '@reseller/service/maintenance';
import type { Compared } from '@reseller/service/maintenance';

import { counted, dataDirectory, HelpRequest, optionsOf, UsageError } from './command-line.ts';
import { invocationOf } from './invocation.ts';

const USAGE = `Usage: ${invocationOf('move')} [--from DIRECTORY] [--to URL]

  --from  data directory of the embedded store, relative to the root of the repository; default: RESELLER_DATA_DIR or .data
  --to    connection string of an empty PostgreSQL database; default: DATABASE_URL

Exit code 0: everything was moved. 1: the move did not start, and a line says why. 2: the move failed, and the database is still empty.
`;

async function main(): Promise<void> {
  const { from, to } = asked();
  const figures = await moveStore({ from, to, onProgress: progress() });
  process.stdout.write(`${table(figures)}\n${conclusion(from, figures)}`);
}

function asked(): { from: string; to: string } {
  const { from, to } = optionsOf(['from', 'to'], USAGE);
  const url = to ?? process.env['DATABASE_URL'];
  if (!url) throw new UsageError(`The target is missing. Give --to, or set DATABASE_URL.\n\n${USAGE}`);
  if (!readDatabaseUrl(url))
    throw new UsageError('The URL of the database is not valid. Write it as postgres://user:password@host:5432/database.');
  return { from: dataDirectory(from), to: url };
}

/** Shows the table that is being copied, on a terminal. */
function progress(): (name: string, rows: number) => void {
  if (!process.stderr.isTTY) return () => {};
  return (name, rows) => void process.stderr.write(`\r\u001B[K${name}${rows === 0 ? '' : `, ${counted(rows, 'row')}`}`);
}

/** All compared figures of both sides. */
function table(figures: readonly Compared[]): string {
  const head = { table: 'table', figure: 'figure', source: 'embedded store', target: 'PostgreSQL' };
  const rows = [head, ...figures];
  function width(column: keyof Compared) {
    return Math.max(...rows.map((row) => row[column].length));
  }
  const widths = [width('table'), width('figure'), width('source'), width('target')] as const;
  function line({ table: name, figure, source, target }: Compared) {
    return [name.padEnd(widths[0]), figure.padEnd(widths[1]), source.padStart(widths[2]), target.padStart(widths[3])].join('  ');
  }
  return `${rows.map((row) => `${line(row)}${row.source === row.target || row === head ? '' : '  DIFFERS'}`).join('\n')}\n`;
}

function conclusion(from: string, figures: readonly Compared[]): string {
  const counts = figures.filter(({ figure }) => figure === 'rows');
  const rows = counts.reduce((sum, { target }) => sum + Number(target), 0);
  const variables = { secret: 'RESELLER_SECRET', 'operator-token': 'RESELLER_OPERATOR_TOKEN' };
  const hints = Object.entries(variables).map(([name, variable]) => {
    const file = join(from, name);
    return `  ${variable}${existsSync(file) ? `=$(cat ${file})` : ': the value that the service used so far'}`;
  });
  return `${[
    `Moved ${counted(rows, 'row')} of ${counted(counts.length, 'table')}. All ${counted(figures.length, 'figure')} are the same on both sides.`,
    '',
    'The key files were not moved, and the data needs the same secrets. Start each instance with DATABASE_URL and',
    ...hints,
    '',
    `The embedded store in ${from} is unchanged. Keep it as a backup, but never start a service on it again, because it no longer receives changes.`,
  ].join('\n')}\n`;
}

try {
  await main();
} catch (error) {
  if (error instanceof HelpRequest) process.stdout.write(error.message);
  else fail(error);
}

function fail(error: unknown): void {
  const isRefused = error instanceof UsageError || error instanceof StoreOpenError;
  const differs = error instanceof MoveDiffersError;
  if (differs) process.stdout.write(table(error.differences));
  process.stderr.write(`${isRefused || differs ? '' : 'The move failed, and nothing was moved: '}${errorText(error)}\n`);
  process.exitCode = isRefused ? 1 : 2;
}
