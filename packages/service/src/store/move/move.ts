/** An embedded store becomes a PostgreSQL database. */
import { StoreOpenError } from '../store.ts';
import { compared, sumsOf } from './figures.ts';
import type { Compared, Row } from './figures.ts';
import { openSource } from './source.ts';
import type { Source } from './source.ts';
import { openTarget } from './target.ts';
import type { Target } from './target.ts';

/** Where a store is, and where it is to be. */
export interface Move {
  /** Data directory of the embedded store. */
  readonly from: string;
  /** Connection string of the empty database. */
  readonly to: string;
  /** Told before a table is copied, and again each time a number of its rows is. */
  onProgress?(table: string, rows: number): void;
}

/** Both sides are not the same; nothing was kept of the move. */
export class MoveDiffersError extends Error {
  override readonly name = 'MoveDiffersError';
  readonly differences: readonly Compared[];

  constructor(differences: readonly Compared[]) {
    super(`The database does not hold what the embedded store does: ${differences.length} figures differ. Nothing was moved.`);
    this.differences = differences;
  }
}

/** Characters of the rows that are sent at once, about. */
const AT_ONCE = 500_000;

/**
 * Copies everything that an embedded store holds into an empty database: in one transaction, which
 * is committed when row counts, sums of all integers and checksums read back from the database are
 * those of the store. Whatever happens before, the database stays empty. The store is only read.
 *
 * @returns What was compared, table by table.
 * @throws StoreOpenError when either side cannot be used: a service runs on the store, it is of another version, the database is not empty.
 * @throws MoveDiffersError when the database did not take what it was given.
 */
export async function moveStore({ from, to, onProgress = () => {} }: Move): Promise<readonly Compared[]> {
  const source = openSource(from);
  try {
    const target = await openTarget(to);
    try {
      assertSameTables(source, target);
      const all: Compared[] = [];
      for (const [table, columns] of target.tables) {
        const [sent, kept] = [sumsOf(columns), sumsOf(columns)];
        onProgress(table, 0);
        for (const rows of portions(source.rows(table))) {
          await target.insert(table, rows);
          for (const row of rows) sent.add(row);
          onProgress(table, sent.figures().rows);
        }
        for await (const row of target.rows(table)) kept.add(row);
        all.push(...compared(table, sent.figures(), kept.figures()));
      }
      const differences = all.filter((figure) => figure.source !== figure.target);
      if (differences.length > 0) throw new MoveDiffersError(differences);
      await target.commit();
      return all;
    } finally {
      await target.close();
    }
  } finally {
    source.close();
  }
}

function assertSameTables(source: Source, target: Target): void {
  const described = ({ tables }: Pick<Source, 'tables'>) =>
    [...tables].map(([table, columns]) => `${table}(${columns.toSorted().join()})`).toSorted();
  const [mine, others] = [described(source), described(target)];
  const odd = [...mine.filter((table) => !others.includes(table)), ...others.filter((table) => !mine.includes(table))];
  if (odd.length > 0)
    throw new StoreOpenError(`The tables of the two sides are not the same: ${odd.join(', ')}. Move between stores of one version.`);
}

/** Rows in portions that are small enough to be held. */
function* portions(rows: Iterable<Row>): Iterable<readonly Row[]> {
  let portion: Row[] = [];
  let size = 0;
  for (const row of rows) {
    portion.push(row);
    for (const value of Object.values(row)) size += typeof value === 'string' ? value.length + 20 : 20;
    if (size < AT_ONCE) continue;
    yield portion;
    portion = [];
    size = 0;
  }
  if (portion.length > 0) yield portion;
}
