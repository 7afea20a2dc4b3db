/** Reproducible random choices: a failing test prints the seed of its run. */
import { amountOf } from '../../../../.config/depth.ts';

/** Returns the next number from 0 to below 1. */
export type Random = () => number;

/** The seed of this run: FAULT_SEED, or a random one. */
export const seed = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** Number of rounds of each test. */
export const ROUNDS = amountOf('FAULT_ROUNDS', { usual: 1, deep: 10 });

/** A sequence of numbers determined by a seed (the splitmix32 generator). */
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

/** A random integer from the first number to below the second. */
export function between(random: Random, from: number, below: number): number {
  return from + Math.floor(random() * (below - from));
}
