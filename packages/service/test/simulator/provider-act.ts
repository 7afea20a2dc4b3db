import { expect } from 'vitest';

import { Refusal } from '../../src/refusal.ts';
import { PortFailure } from './faulty-ports.ts';
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
