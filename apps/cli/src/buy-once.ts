import type { Operation } from '@reseller/contract';

import type { Caller, Result } from './caller.ts';
import { exitCodeOf } from './errors.ts';
import { EXIT } from './failure.ts';
import type { Input } from './input.ts';
import { beginPurchase } from './pending.ts';
import { guardOf } from './price.ts';
import type { Quote, SeenPurchase } from './price.ts';

/** A purchase that the user has confirmed. */
export interface ConfirmedPurchase extends Quote, SeenPurchase {
  /** The variables of the program, which name the folder of pending purchases. */
  readonly env: NodeJS.ProcessEnv;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly input: Input;
}

/**
 * Buys once, even if this process or machine crashes and the same purchase is repeated.
 *
 * @param deliver Passes the result on. Until it has ended, the same purchase returns the result again, because a password is shown once.
 * @param onResumed Gets the time at which an interrupted run of the same purchase began.
 * @returns what `deliver` returned
 */
export async function buyOnce<Delivered>(
  { env, caller, operation, input, keyLifetime, ...seen }: ConfirmedPurchase,
  deliver: (result: Result) => Promise<Delivered>,
  onResumed?: (begunAt: string) => void,
): Promise<Delivered> {
  const form = input.body ?? {};
  const identity = { url: caller.url, secret: caller.secret, operation: operation.id, path: input.path, form };
  const begun = beginPurchase(env, identity, { keyLifetime, guard: guardOf(operation, seen) });
  if (begun.resumedFrom !== undefined) onResumed?.(begun.resumedFrom);
  try {
    const { idempotencyKey, guard } = begun;
    const delivered = await deliver(await caller.call(operation, { ...input, body: { ...guard, ...form } }, { idempotencyKey }));
    begun.finish();
    return delivered;
  } catch (error) {
    if (exitCodeOf(error) !== EXIT.unknown) begun.finish();
    throw error;
  }
}
