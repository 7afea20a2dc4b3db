import { expect } from 'vitest';

import { InfrastructureError } from '../../src/delivery/deliver.ts';
import { Refusal } from '../../src/rules/refusal.ts';
import { PortFailure } from '../ports/port-calls.ts';
import type { Fault } from '../ports/port-calls.ts';
import type { Refused } from './delivery.ts';
import type { Simulation } from './simulation.ts';

/**
 * Has the provider do something that the model foresees to be done or refused.
 *
 * @returns Whether it was done.
 */
export async function tryProvider(sim: Simulation, act: () => Promise<unknown>, refusal: Refused | undefined): Promise<boolean> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect({ status: error.status, type: error.type }, `refused: ${error.message}`).toEqual(refusal ?? 'done');
    sim.say(`which is refused: ${error.type}`);
    return false;
  }
  expect('done').toEqual(refusal ?? 'done');
  return true;
}

/** What the model foresees of a change of a VM. */
export interface Change {
  readonly refusal: Refused | undefined;
  /** Whether the hypervisor is asked. */
  readonly asks: boolean;
  /** Whether it gives more: it is taken back then where the hypervisor fails, else it is finished. */
  readonly gives: boolean;
}

/**
 * Has the provider change a VM; now and then the hypervisor fails, and now and then it fails again
 * when that is taken back or finished.
 */
export async function tryChange(
  sim: Simulation,
  act: () => Promise<unknown>,
  { refusal, asks, gives }: Change,
): Promise<'done' | 'refused' | 'taken back' | 'interrupted'> {
  const { dice, world } = sim;
  const some = (): Fault => dice.pick<Fault>(['fails before', 'fails after']);
  const fault = dice.chance(0.25) ? some() : 'none';
  const again = fault !== 'none' && dice.chance(0.4) ? some() : 'none';
  world.calls.plan = refusal || !asks ? [] : [fault, again];
  const isFailing = asks && !refusal && fault !== 'none' && (gives || again !== 'none');
  try {
    const isDone = await tryProvider(sim, act, refusal);
    expect(isFailing, 'the hypervisor was to fail').toBe(false);
    return isDone ? 'done' : 'refused';
  } catch (error) {
    if (!isFailing || !(error instanceof InfrastructureError)) throw error;
    const outcome = again === 'none' ? 'taken back' : 'interrupted';
    sim.say(`which fails, and is ${outcome}`);
    return outcome;
  } finally {
    world.calls.plan = [];
  }
}

/**
 * Runs something that fails if, and only if, a port was made to fail.
 *
 * @returns Whether it worked.
 */
export async function unlessPortFails(act: () => Promise<unknown>, isMeantToFail: boolean): Promise<boolean> {
  try {
    await act();
  } catch (error) {
    const failures = error instanceof AggregateError ? error.errors : [error];
    if (!isMeantToFail || !failures.every((failure) => failure instanceof PortFailure)) throw error;
    return false;
  }
  expect(isMeantToFail, 'a port was to fail').toBe(false);
  return true;
}
