import { fdatasyncSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

import { expect, test, vi } from 'vitest';

import { amountOf } from '../../../../.config/depth.ts';
import { ring } from '../../../../.config/rings.ts';
import { engines } from '../engines.ts';
import type { Engine } from '../engines.ts';
import { canonicalState, differencesOf } from './canonical-state.ts';
import { actions, concurrentActions, replayCommand, simulate, STEPS } from './runner.ts';

const seeds = seedsOf(amountOf('SIMULATOR_SEEDS', { usual: 1, deep: 7 }));
/** The inner ring has one engine, with which the model is compared. The others compare two. */
const compared: readonly Engine[] = ring === 'inner' ? engines : ['sqlite', 'postgres'];
/** Some of these steps send many requests, so there are fewer of them. */
const concurrentSteps = Math.ceil((STEPS * 5) / 8);

test.each(seeds)('seed %i: the service matches the model and leaves the same state on each engine', async (seed) => {
  // One request at a time: PostgreSQL commits concurrent requests in any order, so the states would differ.
  const sims = await Promise.all(compared.map((engine) => simulate({ seed, engine, steps: STEPS, actions })));
  const [first, ...others] = await Promise.all(
    sims.map(async ({ client, steps }) => ({ steps, state: await canonicalState(client.store()) })),
  );
  if (first === undefined) throw new Error('The seed ran on no engine.');
  for (const { steps, state } of others) {
    expect(steps).toEqual(first.steps);
    expect(Object.keys(state)).toEqual(Object.keys(first.state));
    expect(differencesOf(first.state, state), `reproduce with: ${replayCommand(seed)}`).toEqual([]);
  }
});

// One seed fewer, because these take the longest.
const concurrentSeeds = seeds.length > 1 ? seeds.slice(1) : seeds;

test.each(concurrentSeeds.flatMap((seed) => engines.map((engine) => ({ seed, engine }))))(
  'seed $seed: the invariants hold under concurrent requests on $engine',
  async ({ seed, engine }) => {
    const sim = await simulate({ seed, engine, steps: concurrentSteps, actions: concurrentActions });
    expect(sim.steps).toHaveLength(concurrentSteps + 1);
  },
);

test.each(seeds.slice(0, 1))('seed %i: concurrent requests leave the same state in every run', { tags: 'deep' }, async (seed) => {
  // Otherwise the speed of the disk decides which requests share a transaction.
  await syncAtOnce();
  // The service caches API keys for a second of the machine's clock. An expired key costs a read, which changes the order of requests.
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const plan = { seed, engine: 'sqlite', steps: Math.ceil(concurrentSteps / 2), actions: concurrentActions } as const;
  const [one, other] = [await simulate(plan), await simulate(plan)];
  const states = [await canonicalState(one.client.store()), await canonicalState(other.client.store())] as const;
  expect(other.steps).toEqual(one.steps);
  expect(differencesOf(...states), `reproduce with: ${replayCommand(seed)}`).toEqual([]);
});

/** Replaces the asynchronous sync of files with the synchronous one, so that nothing else runs in this process meanwhile. */
async function syncAtOnce(): Promise<void> {
  const handle = await open(import.meta.filename);
  const methods: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  vi.spyOn(methods, 'datasync').mockImplementation(async function (this: FileHandle) {
    fdatasyncSync(this.fd);
  });
}

/** The seeds of this run: `SIMULATOR_SEED` alone, or the first `count` seeds. */
function seedsOf(count: number): number[] {
  const one = process.env['SIMULATOR_SEED'];
  return one === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(one)];
}
