/**
 * The life of a dedicated server (specification: "States and transitions", "Dedicated server"):
 *
 *     offered -> ordered (being set up) -> deployed <-> terminated -> ended
 *                                          deployed -> deployed (renewed)
 *
 * The specification shows the middle of it, from being set up to the withdrawal of a cancellation;
 * the market, the renewal and the end are said in words or follow from them.
 */
import type { Seconds } from './billing.ts';

/** Where a server is in its life. */
export type ServerState = Offered | Ordered | Deployed | Ended;

/** On the market, nobody's. */
export interface Offered {
  readonly phase: 'offered';
}

/** An account's, being set up: `deployed` is false. */
export interface Ordered {
  readonly phase: 'ordered';
  /** When the set-up completes by itself; null where it waits for the provider. */
  readonly setUpDue: Seconds | null;
}

/** In use: `deployed` is true. */
export interface Deployed {
  readonly phase: 'deployed';
  /** When it is renewed, or ends if it is terminated. */
  readonly renew: Seconds;
  readonly terminated: boolean;
}

/** Gone: no request sees it any more. */
export interface Ended {
  readonly phase: 'ended';
}

/** Why a state does not allow a transition. */
export type WrongState = 'not offered' | 'not being set up' | 'being set up' | 'already cancelled' | 'not cancelled' | 'not due' | 'gone';

/** The next state, or why there is none. */
export type Transition<Next extends ServerState = ServerState> = { readonly next: Next } | { readonly refused: WrongState };

const SECONDS_PER_DAY = 86_400;

/** The end of a runtime that begins at an instant; a day has 86,400 seconds. */
export function endOfRuntime(start: Seconds, days: number): Seconds {
  return start + days * SECONDS_PER_DAY;
}

/** An account gets the server, and its set-up begins. */
export function order(state: ServerState, setUpDue: Seconds | null): Transition<Ordered> {
  return state.phase === 'offered' ? { next: { phase: 'ordered', setUpDue } } : { refused: 'not offered' };
}

/** The set-up completes, and the first runtime begins. */
export function completeSetUp(state: ServerState, at: Seconds, runtimeDays: number): Transition<Deployed> {
  if (state.phase !== 'ordered') return { refused: 'not being set up' };
  return { next: { phase: 'deployed', renew: endOfRuntime(at, runtimeDays), terminated: false } };
}

/** DELETE /dedicated/{identifier}/delete: no further renewal. A server without a renewal date cannot be cancelled (our choice). */
export function cancel(state: ServerState): Transition<Deployed> {
  if (state.phase === 'ordered') return { refused: 'being set up' };
  if (state.phase !== 'deployed') return { refused: 'gone' };
  return state.terminated ? { refused: 'already cancelled' } : { next: { ...state, terminated: true } };
}

/** POST /dedicated/{identifier}/undelete: renewed again. */
export function withdrawCancellation(state: ServerState): Transition<Deployed> {
  if (state.phase === 'ordered') return { refused: 'not cancelled' };
  if (state.phase !== 'deployed') return { refused: 'gone' };
  return state.terminated ? { next: { ...state, terminated: false } } : { refused: 'not cancelled' };
}

/** The renewal date comes: a further runtime begins, or a terminated server ends. */
export function reachRenewal(state: ServerState, at: Seconds, runtimeDays: number): Transition<Deployed | Ended> {
  if (state.phase !== 'deployed' || state.renew !== at) return { refused: 'not due' };
  if (state.terminated) return { next: { phase: 'ended' } };
  return { next: { ...state, renew: endOfRuntime(state.renew, runtimeDays) } };
}
