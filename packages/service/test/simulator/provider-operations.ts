/** Runs operations of the provider, and checks that each outcome is the one that the model predicts. */
import { expect } from 'vitest';

import { InfrastructureError } from '../../src/delivery/deliver.ts';
import { Refusal } from '../../src/rules/refusal.ts';
import { PortFailure } from '../ports/port-calls.ts';
import type { Fault } from '../ports/port-calls.ts';
import type { Refused } from './requests.ts';
import type { Simulation } from './simulation.ts';

/**
 * Runs an operation of the provider, and checks whether it is refused.
 *
 * @returns Whether it succeeded.
 */
export async function runProviderOperation(sim: Simulation, act: () => Promise<unknown>, refusal: Refused | undefined): Promise<boolean> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect({ status: error.status, type: error.type }, `refused: ${error.message}`).toEqual(refusal ?? 'done');
    sim.describe(`refused: ${error.type}`);
    return false;
  }
  expect('done').toEqual(refusal ?? 'done');
  return true;
}

/** The outcome of a change that the model predicts. */
export interface Change {
  readonly refusal: Refused | undefined;
  /** Whether it calls a port. */
  readonly callsPort: boolean;
  /** Whether the service undoes it when the port fails. It finishes other changes. */
  readonly isUndone: boolean;
}

/**
 * Runs a change of the provider that calls a port. Some calls fail, and some of the calls that undo or finish the change fail too.
 */
export async function runChange(
  sim: Simulation,
  act: () => Promise<unknown>,
  { refusal, callsPort, isUndone }: Change,
): Promise<'done' | 'refused' | 'undone' | 'interrupted'> {
  const { dice, world } = sim;
  const some = (): Fault => dice.pick<Fault>(['fails before', 'fails after']);
  const fault = dice.chance(0.25) ? some() : 'none';
  const again = fault !== 'none' && dice.chance(0.4) ? some() : 'none';
  world.calls.plan = refusal || !callsPort ? [] : [fault, again];
  const isFailing = callsPort && !refusal && fault !== 'none' && (isUndone || again !== 'none');
  try {
    const isDone = await runProviderOperation(sim, act, refusal);
    expect(isFailing, 'the port should have failed').toBe(false);
    return isDone ? 'done' : 'refused';
  } catch (error) {
    if (!isFailing || !(error instanceof InfrastructureError)) throw error;
    const outcome = again === 'none' ? 'undone' : 'interrupted';
    sim.describe(`fails and is ${outcome}`);
    return outcome;
  } finally {
    world.calls.plan = [];
  }
}

/**
 * Runs an operation that must fail if, and only if, the simulation made a port fail.
 *
 * @returns Whether it succeeded.
 */
export async function expectOnlyPortFailures(act: () => Promise<unknown>, shouldFail: boolean): Promise<boolean> {
  try {
    await act();
  } catch (error) {
    const failures = error instanceof AggregateError ? error.errors : [error];
    if (!shouldFail || !failures.every((failure) => failure instanceof PortFailure)) throw error;
    return false;
  }
  expect(shouldFail, 'a port should have failed').toBe(false);
  return true;
}
