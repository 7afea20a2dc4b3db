/**
 * The life of a domain (specification: "States and transitions", "Domain"):
 *
 *     registered <-> terminated -> ended
 *     registered -> registered (renewed)
 *
 * The specification shows the withdrawal of a cancellation. That a domain lasts a year, is renewed
 * at its expiry, and ends there when it is cancelled, is our choice; so is the status.
 */
import type { Seconds } from './billing.ts';

/** A domain that an account has. */
export interface Registration {
  /** Registration, or transfer to the account. */
  readonly created: Seconds;
  /** When it is renewed, or ends if it is terminated. */
  readonly expires: Seconds;
  /** Until when another provider cannot take the domain over. */
  readonly lockedUntil: Seconds;
  readonly terminated: boolean;
}

/** Registries refuse a transfer for 60 days after a registration or a transfer. */
const TRANSFER_LOCK_SECONDS: Seconds = 60 * 86_400;

/** The registration that begins at an instant, by a purchase or by a transfer. */
export function beginRegistration(at: Seconds): Registration {
  return { created: at, expires: anniversary(at, 1), lockedUntil: at + TRANSFER_LOCK_SECONDS, terminated: false };
}

/** `domain.status`. */
export function statusOf({ lockedUntil }: Pick<Registration, 'lockedUntil'>, at: Seconds): 'OK' | 'LOCK' {
  return at < lockedUntil ? 'LOCK' : 'OK';
}

/** Why a state does not allow a transition. */
export type WrongState = 'expired' | 'already cancelled' | 'not cancelled' | 'not due';

/** The next state, or why there is none. */
export type Transition = { readonly next: Registration } | { readonly refused: WrongState };

/** The provider cancels the domain: it is not renewed any more. */
export function cancel(registration: Registration, at: Seconds): Transition {
  if (at >= registration.expires) return { refused: 'expired' };
  return registration.terminated ? { refused: 'already cancelled' } : { next: { ...registration, terminated: true } };
}

/** POST /domain/{domain}/undelete: it is renewed again. */
export function withdrawCancellation(registration: Registration, at: Seconds): Transition {
  if (at >= registration.expires) return { refused: 'expired' };
  return registration.terminated ? { next: { ...registration, terminated: false } } : { refused: 'not cancelled' };
}

/** The expiry comes: a further year begins, or a terminated domain ends. */
export function reachExpiry(registration: Registration, at: Seconds): Transition | { readonly ended: true } {
  const { created, expires, terminated } = registration;
  if (at < expires) return { refused: 'not due' };
  if (terminated) return { ended: true };
  return { next: { ...registration, expires: anniversary(created, yearOf(expires) - yearOf(created) + 1) } };
}

/** The same day of a later year; of the 29th of February, the 28th in years that have none. */
function anniversary(instant: Seconds, years: number): Seconds {
  const date = new Date(instant * 1000);
  const month = date.getUTCMonth();
  const year = date.getUTCFullYear() + years;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return date.setUTCFullYear(year, month, Math.min(date.getUTCDate(), lastDay)) / 1000;
}

function yearOf(instant: Seconds): number {
  return new Date(instant * 1000).getUTCFullYear();
}

/** An instant as the `timings` of a domain show it: YYYY-MM-DD HH:MM:SS, UTC. */
export function timingOf(instant: Seconds): string {
  return new Date(instant * 1000).toISOString().slice(0, 19).replace('T', ' ');
}
