/** The figures of a table, which a move compares between source and target. */
import { hash } from 'node:crypto';

/** A value of either engine: text, an integer, or null. */
export type Value = string | bigint | null;
export type MovedRow = Readonly<Record<string, Value>>;

/** Figures of a table. They do not depend on the order of its rows. */
export interface Figures {
  readonly rows: number;
  /** The sum of each integer column, money included, by column in order of the names. */
  readonly sums: ReadonlyMap<string, bigint>;
  /** 16 hexadecimal digits over the whole contents of all rows. */
  readonly checksum: string;
}

/** Computes the figures of a table, row by row. */
export interface Sums {
  add(row: MovedRow): void;
  figures(): Figures;
}

const MODULUS = 1n << 128n;

export function sumsOf(columns: readonly string[]): Sums {
  const inOrder = columns.toSorted();
  const sums = new Map<string, bigint>();
  let rows = 0;
  let all = 0n;
  return {
    add(row) {
      rows++;
      const canonical: (string | null)[] = [];
      for (const column of inOrder) {
        const value = row[column];
        if (value === undefined) throw new TypeError(`A row lacks the column ${column}.`);
        if (typeof value === 'bigint') sums.set(column, (sums.get(column) ?? 0n) + value);
        canonical.push(value === null ? null : String(value));
      }
      // A sum of hashes does not depend on the order of rows, and duplicate rows change it.
      all = (all + BigInt(`0x${hash('sha256', JSON.stringify(canonical)).slice(0, 32)}`)) % MODULUS;
    },
    figures: () => ({
      rows,
      sums: new Map([...sums].toSorted(([one], [other]) => (one < other ? -1 : 1))),
      checksum: all.toString(16).padStart(32, '0').slice(0, 16),
    }),
  };
}

/** One figure on both sides. */
export interface Compared {
  readonly table: string;
  /** `rows`, `checksum`, or `sum of` a column. */
  readonly figure: string;
  readonly source: string;
  readonly target: string;
}

/** Pairs the figures of a table on both sides. */
export function compared(table: string, source: Figures, target: Figures): Compared[] {
  const columns = [...new Set([...source.sums.keys(), ...target.sums.keys()])];
  return [
    { table, figure: 'rows', source: String(source.rows), target: String(target.rows) },
    ...columns.map((column) => ({
      table,
      figure: `sum of ${column}`,
      source: String(source.sums.get(column) ?? 0n),
      target: String(target.sums.get(column) ?? 0n),
    })),
    { table, figure: 'checksum', source: source.checksum, target: target.checksum },
  ];
}
