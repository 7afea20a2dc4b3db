/** Random choices that can be made again: a failing proof prints the seed of its run. */

/** A number from 0 to below 1, the next one at each call. */
export type Random = () => number;

/** The seed of this run: FAULT_SEED, else another one each time. */
export const seed = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** How many rounds a proof takes: FAULT_ROUNDS, else as many as every run of the tests can afford. */
export function roundsOf(usual: number): number {
  return Number(process.env['FAULT_ROUNDS'] ?? usual);
}

/** Numbers that follow from a seed alone (the splitmix32 generator). */
export function randomFrom(start: number): Random {
  let state = start | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from one to below another. */
export function between(random: Random, from: number, below: number): number {
  return from + Math.floor(random() * (below - from));
}
