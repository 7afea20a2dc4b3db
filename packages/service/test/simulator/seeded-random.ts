/** Random numbers that depend only on a seed, so they are the same on every machine. */
import { hash } from 'node:crypto';

import type { Random } from '../../src/rules/random.ts';

/**
 * The bytes of SHA-256 over a seed, a stream's name and a counter.
 *
 * @param stream The streams of one seed are independent: numbers that the service draws do not change the simulator's next step.
 */
export function seededRandom(seed: number, stream: string): Random {
  let block = 0;
  let drawn: Uint8Array = new Uint8Array();
  return {
    bytes(count) {
      const bytes = new Uint8Array(count);
      for (let at = 0; at < count;) {
        if (drawn.length === 0) drawn = hash('sha256', `${seed}/${stream}/${block++}`, 'buffer');
        const taken = drawn.subarray(0, count - at);
        bytes.set(taken, at);
        at += taken.length;
        drawn = drawn.subarray(taken.length);
      }
      return bytes;
    },
  };
}

/** The source of the simulator's decisions. */
export interface Dice {
  /** An integer from `least` to `most`. */
  integer(least: number, most: number): number;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** Undefined if the list is empty. */
  pickAny<T>(from: readonly T[]): T | undefined;
  shuffled<T>(list: readonly T[]): T[];
  weighted<T extends { readonly weight: number }>(from: readonly T[]): T;
}

/** Dice over a source of random bytes. */
export function diceOf(random: Random): Dice {
  // 48 bits are far more than any range needs, so the remainder is almost uniform.
  const below = (limit: number): number => random.bytes(6).reduce((sum, byte) => sum * 256 + byte, 0) % limit;
  const pickAny = <T>(from: readonly T[]): T | undefined => from[below(Math.max(1, from.length))];
  return {
    integer: (least, most) => least + below(most - least + 1),
    chance: (probability) => below(1_000_000) < probability * 1_000_000,
    pickAny,
    pick(from) {
      const picked = pickAny(from);
      if (picked === undefined) throw new RangeError('The list is empty.');
      return picked;
    },
    shuffled(list) {
      const left = [...list];
      return list.flatMap(() => left.splice(below(left.length), 1));
    },
    weighted(from) {
      let left = below(from.reduce((sum, { weight }) => sum + weight, 0));
      for (const one of from) {
        left -= one.weight;
        if (left < 0) return one;
      }
      throw new RangeError('The list is empty.');
    },
  };
}
