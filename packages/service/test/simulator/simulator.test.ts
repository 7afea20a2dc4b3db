import { fdatasyncSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

import { expect, test, vi } from 'vitest';

import { engines } from '../engines.ts';
import { canonicalState, differencesOf } from './canonical-state.ts';
import { actions, concurrentActions, replayCommand, simulate } from './runner.ts';

const steps = Number(process.env['SIMULATOR_STEPS'] ?? 120);
const seeds = seedsOf(Number(process.env['SIMULATOR_SEEDS'] ?? 2));
/** A step of these is many concurrent requests. */
const concurrentSteps = Math.ceil(steps / 2);

test.each(seeds)('seed %i: the service agrees with the model, and leaves the same state on both engines', async (seed) => {
  // Sequential on purpose: PostgreSQL commits what is sent at once in any order.
  const sims = await Promise.all(engines.map((engine) => simulate({ seed, engine, steps, actions })));
  const [sqlite = {}, postgres = {}] = await Promise.all(sims.map(({ client }) => canonicalState(client.store())));
  expect(sims[1]?.steps).toEqual(sims[0]?.steps);
  expect(Object.keys(postgres)).toEqual(Object.keys(sqlite));
  expect(differencesOf(sqlite, postgres), `run again: ${replayCommand(seed)}`).toEqual([]);
});

test.each(seeds.flatMap((seed) => engines.map((engine) => ({ seed, engine }))))(
  'seed $seed: the invariants hold under concurrent requests on $engine',
  async ({ seed, engine }) => {
    const sim = await simulate({ seed, engine, steps: concurrentSteps, actions: concurrentActions });
    expect(sim.steps).toHaveLength(concurrentSteps + 1);
  },
);

test.each(seeds.slice(0, 1))('seed %i: concurrent requests leave the same state in every run', async (seed) => {
  // Otherwise the time that the disk takes decides which requests a transaction holds.
  await syncAtOnce();
  // API keys are remembered for a second of the machine's time, and a forgotten key is read first.
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const plan = { seed, engine: 'sqlite', steps: Math.ceil(concurrentSteps / 2), actions: concurrentActions } as const;
  const [one, other] = [await simulate(plan), await simulate(plan)];
  const states = [await canonicalState(one.client.store()), await canonicalState(other.client.store())] as const;
  expect(other.steps).toEqual(one.steps);
  expect(differencesOf(...states), `run again: ${replayCommand(seed)}`).toEqual([]);
});

/** Makes the disk confirm writes before anything else happens in this process. */
async function syncAtOnce(): Promise<void> {
  const handle = await open(import.meta.filename);
  const methods: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  vi.spyOn(methods, 'datasync').mockImplementation(async function (this: FileHandle) {
    fdatasyncSync(this.fd);
  });
}

/** The seeds of this run: the one that is to be run again, or the first few. */
function seedsOf(count: number): number[] {
  const one = process.env['SIMULATOR_SEED'];
  return one === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(one)];
}
