/** Copies an embedded store into an empty PostgreSQL database; README.md, "Moving to PostgreSQL". */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { MoveDiffersError, moveStore, StoreOpenError } from '@reseller/service';
import type { Compared } from '@reseller/service';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
const USAGE = `Usage: npx pnpm@12 move [--from DIRECTORY] [--to URL]

  --from  data directory of the embedded store, from the root of the repository; RESELLER_DATA_DIR or .data when left out
  --to    connection string of an empty PostgreSQL database; DATABASE_URL when left out

Exit code 0: everything was moved. 1: nothing was begun, and a line says why. 2: the move failed, and the database is as empty as before.
`;

/** What was refused before anything began; the message is for whoever called. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

async function main(): Promise<void> {
  const { from, to, help } = asked();
  if (help) {
    process.stdout.write(USAGE);
    return;
  }
  const figures = await moveStore({ from, to, onProgress: progress() });
  process.stdout.write(`${table(figures)}\n${conclusion(from, figures)}`);
}

function asked(): { from: string; to: string; help: boolean } {
  const { from, to, help } = parsed();
  const url = to ?? process.env['DATABASE_URL'];
  if (!help && !url) throw new UsageError(`It is not said where to. Give --to, or set DATABASE_URL.\n\n${USAGE}`);
  if (url && !URL.canParse(url))
    throw new UsageError('The URL of the database cannot be read. Give it as postgres://user:password@host:5432/database.');
  return { from: resolve(REPOSITORY, from ?? (process.env['RESELLER_DATA_DIR'] || '.data')), to: url ?? '', help };
}

function parsed() {
  try {
    const options = { from: { type: 'string' }, to: { type: 'string' }, help: { type: 'boolean', default: false } } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`, { cause: error });
  }
}

/** On a terminal, the table that is being copied. */
function progress(): (name: string, rows: number) => void {
  if (!process.stderr.isTTY) return () => {};
  return (name, rows) => void process.stderr.write(`\r\u001B[K${name}${rows === 0 ? '' : `, ${rows} rows`}`);
}

/** Every figure that was compared, on both sides. */
function table(figures: readonly Compared[]): string {
  const head = { table: 'table', figure: 'figure', source: 'embedded store', target: 'PostgreSQL' };
  const rows = [head, ...figures];
  const width = (column: keyof Compared) => Math.max(...rows.map((row) => row[column].length));
  const widths = [width('table'), width('figure'), width('source'), width('target')] as const;
  const line = ({ table: name, figure, source, target }: Compared) =>
    [name.padEnd(widths[0]), figure.padEnd(widths[1]), source.padStart(widths[2]), target.padStart(widths[3])].join('  ');
  return `${rows.map((row) => `${line(row)}${row.source === row.target || row === head ? '' : '  DIFFERS'}`).join('\n')}\n`;
}

function conclusion(from: string, figures: readonly Compared[]): string {
  const counts = figures.filter(({ figure }) => figure === 'rows');
  const rows = counts.reduce((sum, { target }) => sum + Number(target), 0);
  const variables = { secret: 'RESELLER_SECRET', 'operator-token': 'RESELLER_OPERATOR_TOKEN' };
  const hints = Object.entries(variables).map(([name, variable]) => {
    const file = join(from, name);
    return `  ${variable}${existsSync(file) ? `=$(cat ${file})` : ': the value that the service has had'}`;
  });
  return `${[
    `Moved ${rows} rows of ${counts.length} tables; all ${figures.length} figures are the same on both sides.`,
    '',
    'The key files were not moved, and nothing else works on this data. Start each node with DATABASE_URL and',
    ...hints,
    '',
    `The embedded store in ${from} is as it was. Keep it as a backup, and start no service on it any more: it would not know what the nodes do.`,
  ].join('\n')}\n`;
}

try {
  await main();
} catch (error) {
  const isRefused = error instanceof UsageError || error instanceof StoreOpenError;
  if (error instanceof MoveDiffersError) process.stdout.write(table(error.differences));
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    isRefused || error instanceof MoveDiffersError ? `${message}\n` : `The move failed, and nothing was moved: ${message}\n`,
  );
  process.exitCode = isRefused ? 1 : 2;
}
