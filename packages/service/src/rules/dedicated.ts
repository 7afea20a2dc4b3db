/**
 * The life of a dedicated server (specification: "States and transitions", "Dedicated server"):
 *
 *     offered -> ordered (being set up) -> deployed <-> terminated -> ended
 *                                          deployed -> deployed (renewed)
 *
 * The specification shows the states from the set-up to the withdrawal of a cancellation. It describes the market, the renewal and the end
 * only in words, or they follow from its words.
 */
import type { Seconds } from './billing.ts';

export type ServerState = Offered | Ordered | Deployed | Ended;

/** On the market, without an account. */
export interface Offered {
  readonly phase: 'offered';
}

/** Being set up for an account: `deployed` is false. */
export interface Ordered {
  readonly phase: 'ordered';
  /** When the set-up completes. Null if the provider completes it. */
  readonly setUpDue: Seconds | null;
}

/** In use: `deployed` is true. */
export interface Deployed {
  readonly phase: 'deployed';
  /** When it is renewed, or when it ends if it is terminated. */
  readonly renew: Seconds;
  readonly terminated: boolean;
}

/** Ended. Requests no longer return it. */
export interface Ended {
  readonly phase: 'ended';
}

/** Why a state does not allow a transition. */
export type ServerRefusal =
  | 'not offered'
  | 'not being set up'
  | 'being set up'
  | 'already cancelled'
  | 'not cancelled'
  | 'not due'
  | 'gone';

/** The next state, or the reason for a refusal. */
export type ServerTransition<Next extends ServerState = ServerState> = { readonly next: Next } | { readonly refused: ServerRefusal };

const SECONDS_PER_DAY = 86_400;

/** The end of a runtime. A day has 86,400 seconds. */
export function endOfRuntime(start: Seconds, days: number): Seconds {
  return start + days * SECONDS_PER_DAY;
}

/** The server is ordered for an account, and its set-up begins. */
export function order(state: ServerState, setUpDue: Seconds | null): ServerTransition<Ordered> {
  return state.phase === 'offered' ? { next: { phase: 'ordered', setUpDue } } : { refused: 'not offered' };
}

/** The set-up completes, and the first runtime begins. */
export function completeSetUp(state: ServerState, at: Seconds, runtimeDays: number): ServerTransition<Deployed> {
  if (state.phase !== 'ordered') return { refused: 'not being set up' };
  return { next: { phase: 'deployed', renew: endOfRuntime(at, runtimeDays), terminated: false } };
}

/** DELETE /dedicated/{identifier}/delete: no further renewal. A server without a renewal date cannot be cancelled (our choice). */
export function cancelServer(state: ServerState): ServerTransition<Deployed> {
  if (state.phase === 'ordered') return { refused: 'being set up' };
  if (state.phase !== 'deployed') return { refused: 'gone' };
  return state.terminated ? { refused: 'already cancelled' } : { next: { ...state, terminated: true } };
}

/** POST /dedicated/{identifier}/undelete: the server is renewed again. */
export function withdrawServerCancellation(state: ServerState): ServerTransition<Deployed> {
  if (state.phase === 'ordered') return { refused: 'not cancelled' };
  if (state.phase !== 'deployed') return { refused: 'gone' };
  return state.terminated ? { next: { ...state, terminated: false } } : { refused: 'not cancelled' };
}

/** The number of renewals that are due before an instant if the server is not cancelled. */
export function renewalsBefore({ renew, terminated }: Deployed, runtimeDays: number, instant: Seconds): number {
  if (terminated || renew >= instant) return 0;
  return Math.ceil((instant - renew) / (runtimeDays * SECONDS_PER_DAY));
}

/** At the renewal date, a further runtime begins, or a terminated server ends. */
export function reachRenewal(state: ServerState, at: Seconds, runtimeDays: number): ServerTransition<Deployed | Ended> {
  if (state.phase !== 'deployed' || state.renew !== at) return { refused: 'not due' };
  if (state.terminated) return { next: { phase: 'ended' } };
  return { next: { ...state, renew: endOfRuntime(state.renew, runtimeDays) } };
}
