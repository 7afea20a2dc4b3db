/** The parts that the suites of all ports share. */
import { memoryFence } from '../fencing.ts';
import type { Fence } from '../fencing.ts';

/** A test: register it with the runner, such as `for (const { name, run } of cases) test(name, run)`. */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

/**
 * Cases for any test runner. Each gets a new system, which it closes.
 *
 * @param benchOf Returns what the checks use. The fence is that of the case.
 */
export function conformanceCases<System extends { close(): Promise<void> }, Bench>(
  checks: Readonly<Record<string, (bench: Bench) => Promise<void>>>,
  newSystem: () => Promise<System>,
  benchOf: (system: System, fence: Fence) => Bench | Promise<Bench>,
): ConformanceCase[] {
  return Object.entries(checks).map(([name, check]) => ({
    name,
    async run() {
      const system = await newSystem();
      try {
        await check(await benchOf(system, memoryFence()));
      } finally {
        await system.close();
      }
    },
  }));
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
