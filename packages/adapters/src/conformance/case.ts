/** The parts that the suites of all ports share. */

/** A test: register it with the runner, such as `for (const { name, run } of cases) test(name, run)`. */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

/** By its name, because the adapter may have another copy of the package. */
export function isStale(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'StaleTokenError';
}

/** The same numbers in every run: a linear congruential generator modulo 2^32. */
export function generator(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
