/** How often jobs run, how far the clock jumps, the engine, the number of instances and every tuning change no amount. */
import { expect, test } from 'vitest';

import { amountOf, byDepth } from '../../../../.config/depth.ts';
import { differencesOf } from '../simulator/canonical-state.ts';
import { SMALLEST_TUNING } from '../simulator/tuning.ts';
import { play } from './play.ts';
import type { Way } from './play.ts';

const SEEDS = amountOf('SAME_AMOUNTS_SEEDS', { usual: 1, deep: 6 });
const USUAL: Way = { engine: 'sqlite', instances: 1, tuning: {}, time: 'jump' };

const few: readonly Way[] = [
  { ...USUAL, time: 'stopped' },
  { engine: 'postgres', instances: 2, time: 'steps', tuning: SMALLEST_TUNING },
];
const conditions = (['jump', 'steps', 'stopped'] as const).flatMap((time) => [{}, SMALLEST_TUNING].map((tuning) => ({ time, tuning })));
const embedded: readonly Way[] = conditions.map((condition) => ({ ...USUAL, ...condition }));
const postgres: readonly Way[] = conditions.flatMap((condition) => [
  { ...condition, engine: 'postgres', instances: 1 },
  { ...condition, engine: 'postgres', instances: 2 },
]);

/** PostgreSQL is slow, so a deep run plays each seed in a third of these ways. Three seeds in a row cover them all. */
function waysOf(seed: number): readonly Way[] {
  const third = postgres.filter((_, index) => index % 3 === seed % 3);
  return byDepth({ usual: few, deep: [...embedded, ...third] });
}

test.each(Array.from({ length: SEEDS }, (_, index) => index + 1))('seed %i: the same events leave the same amounts', async (seed) => {
  const expected = await play(seed, USUAL);
  expect(expected['invoices']?.length).toBeGreaterThan(20);
  expect(expected['statuses']?.filter((status) => /20[01]$/.test(status)).length).toBeGreaterThan(40);
  for (const way of waysOf(seed))
    expect(differencesOf(await play(seed, way), expected), `${way.time} on ${way.engine} with ${way.instances}`).toEqual([]);
});
