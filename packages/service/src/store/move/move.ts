/** Moves an embedded store to a PostgreSQL database. */
import { StoreOpenError } from '../store.ts';
import { compared, sumsOf } from './figures.ts';
import type { Compared, MovedRow } from './figures.ts';
import { openSource } from './source.ts';
import type { Source } from './source.ts';
import { openTarget } from './target.ts';
import type { Target } from './target.ts';

/** Source and destination of a move. */
export interface Move {
  /** Data directory of the embedded store. */
  readonly from: string;
  /** Connection string of the empty database. */
  readonly to: string;
  /** Called before a table is copied, and again after each batch of its rows. */
  onProgress?(table: string, rows: number): void;
}

/** The figures of the two sides differ, so the database was left empty. */
export class MoveDiffersError extends Error {
  override readonly name = 'MoveDiffersError';
  readonly differences: readonly Compared[];

  constructor(differences: readonly Compared[]) {
    super(
      `The database does not match the embedded store: ${differences.length} ${differences.length === 1 ? 'figure differs' : 'figures differ'}. Nothing was moved.`,
    );
    this.differences = differences;
  }
}

/** Approximate number of characters in a batch of rows. */
const BATCH_CHARACTERS = 500_000;

/**
 * Copies all data of an embedded store into an empty database, in one transaction. It commits if row counts, sums of all integers and
 * checksums, read back from the database, match those of the store. Otherwise the database stays empty. The store is only read.
 *
 * @returns The compared figures, table by table.
 * @throws StoreOpenError if either side cannot be used: a service runs on the store, another version wrote it, or the database is not empty.
 * @throws MoveDiffersError if the figures differ.
 */
export async function moveStore({ from, to, onProgress = () => {} }: Move): Promise<readonly Compared[]> {
  const source = await openSource(from);
  try {
    const target = await openTarget(to);
    try {
      assertSameTables(source, target);
      const all: Compared[] = [];
      for (const [table, columns] of target.tables) {
        const [sent, kept] = [sumsOf(columns), sumsOf(columns)];
        onProgress(table, 0);
        await target.prepare(table);
        for (const rows of batches(source.rows(table))) {
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
  function described({ tables }: Pick<Source, 'tables'>) {
    return [...tables].map(([table, columns]) => `${table}(${columns.toSorted().join()})`).toSorted();
  }
  const [mine, others] = [described(source), described(target)];
  const unmatched = [...mine.filter((table) => !others.includes(table)), ...others.filter((table) => !mine.includes(table))];
  if (unmatched.length > 0)
    throw new StoreOpenError(`The tables of the two sides differ: ${unmatched.join(', ')}. Move between stores of one version.`);
}

/** Rows in batches that fit into memory. */
function* batches(rows: Iterable<MovedRow>): Iterable<readonly MovedRow[]> {
  let batch: MovedRow[] = [];
  let size = 0;
  for (const row of rows) {
    batch.push(row);
    for (const value of Object.values(row)) size += typeof value === 'string' ? value.length + 20 : 20;
    if (size < BATCH_CHARACTERS) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield batch;
}
