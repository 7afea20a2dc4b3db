/** The figures of the benchmarks of all packages. */

export interface Target {
  readonly kind: 'at least' | 'at most' | 'exactly';
  readonly value: number;
}

/** A figure with all its rounds. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly target: Target;
  readonly rounds: readonly number[];
  /** The parts of the figure, for the report. */
  readonly detail: string;
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function isReached({ rounds, target: { kind, value } }: Row): boolean {
  if (kind === 'exactly') return rounds.every((round) => round === value);
  return kind === 'at least' ? median(rounds) >= value : median(rounds) <= value;
}

export function lineOf(row: Row): string {
  const { name, unit, rounds, target, detail } = row;
  const figures = `${short(median(rounds))} ${unit} (${short(Math.min(...rounds))} to ${short(Math.max(...rounds))})`;
  return `${isReached(row) ? 'reached' : 'missed '}  ${name}: ${figures}, target ${target.kind} ${target.value}; ${detail}`;
}

/** Sends a figure to the benchmark that has started this process. Without one, prints it. */
export function report(row: Row): void {
  if (process.send) process.send(row);
  else process.stdout.write(`${lineOf(row)}\n`);
}

export function short(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}
