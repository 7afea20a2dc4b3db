/** Draws the tuning of a service, so that the simulator crosses each size, limit and time with a few objects. */
import { DEFAULT_TUNING } from '../../src/store/tuning.ts';
import type { Tuning } from '../../src/store/tuning.ts';
import type { Dice } from './seeded-random.ts';

/** The smallest values. */
export const SMALLEST_TUNING: Tuning = mapTuning(() => 1);

/** Each value is 1, 2 or 3, or the default, or between them. */
export function randomTuning(dice: Dice): Tuning {
  return mapTuning((usual) => (dice.chance(0.6) ? dice.pick([1, 2, 3]) : dice.chance(0.5) ? usual : dice.integer(1, usual)));
}

function mapTuning(choose: (usual: number) => number): Tuning {
  const tuning: Record<keyof Tuning, number> = { ...DEFAULT_TUNING };
  const isName = (name: string): name is keyof Tuning => name in tuning;
  for (const name of Object.keys(tuning).filter(isName)) tuning[name] = choose(tuning[name]);
  return tuning;
}
