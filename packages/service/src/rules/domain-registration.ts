/**
 * The life of a domain (specification: "States and transitions", "Domain"):
 *
 *     registered <-> terminated -> ended
 *     registered -> registered (renewed, at its expiry or by hand)
 *
 * The specification shows only the withdrawal of a cancellation. Our choices: a domain lasts a year and is renewed at its expiry, or ends
 * there if it is cancelled. The status is our choice, too.
 */
import type { Seconds } from './billing.ts';

/** A domain that an account has. */
export interface Registration {
  /** Registration, or transfer to the account. */
  readonly created: Seconds;
  /** When it is renewed, or when it ends if it is terminated. */
  readonly expires: Seconds;
  /** Until this instant, another provider cannot take over the domain. */
  readonly lockedUntil: Seconds;
  readonly terminated: boolean;
}

/** Registries refuse a transfer for 60 days after a registration or a transfer. */
const TRANSFER_LOCK_SECONDS: Seconds = 60 * 86_400;

/** A registration that begins now, by a purchase or a transfer. */
export function beginRegistration(at: Seconds): Registration {
  return { created: at, expires: anniversary(at, 1), lockedUntil: at + TRANSFER_LOCK_SECONDS, terminated: false };
}

/** What decides the status of a domain. */
export interface Locks extends Pick<Registration, 'lockedUntil'> {
  /** Whether the account has set the transfer lock. */
  readonly transferLock: boolean;
}

/** `domain.status`. @param isPending Whether the registry still carries out the registration or transfer. */
export function statusOf({ lockedUntil, transferLock }: Locks, at: Seconds, isPending = false): 'OK' | 'LOCK' | 'PENDING' {
  if (isPending) return 'PENDING';
  return transferLock || at < lockedUntil ? 'LOCK' : 'OK';
}

/** Why a state does not allow a transition. */
export type DomainRefusal = 'expired' | 'already cancelled' | 'not cancelled' | 'not due' | 'cancelled' | 'too far';

/** The next state, or the reason for a refusal. */
export type DomainTransition = { readonly next: Registration } | { readonly refused: DomainRefusal };

/** The provider cancels the domain, so it is no longer renewed. */
export function cancelDomain(registration: Registration, at: Seconds): DomainTransition {
  if (at >= registration.expires) return { refused: 'expired' };
  return registration.terminated ? { refused: 'already cancelled' } : { next: { ...registration, terminated: true } };
}

/** POST /domain/{domain}/undelete: the domain is renewed again. */
export function withdrawDomainCancellation(registration: Registration, at: Seconds): DomainTransition {
  if (at >= registration.expires) return { refused: 'expired' };
  return registration.terminated ? { next: { ...registration, terminated: false } } : { refused: 'not cancelled' };
}

/** At the expiry, a further year begins, or a terminated domain ends. */
export function reachExpiry(registration: Registration, at: Seconds): DomainTransition | { readonly ended: true } {
  const { created, expires, terminated } = registration;
  if (at < expires) return { refused: 'not due' };
  if (terminated) return { ended: true };
  return { next: { ...registration, expires: nextExpiry(created, expires) } };
}

/** Registries allow no later expiry. */
export const MAX_YEARS = 10;

/** POST /domain/{domain}/renew: a further year begins at the expiry. */
export function renewEarly(registration: Registration, at: Seconds): DomainTransition {
  if (registration.terminated) return { refused: 'cancelled' };
  const expires = nextExpiry(registration.created, registration.expires);
  return expires > anniversary(at, MAX_YEARS) ? { refused: 'too far' } : { next: { ...registration, expires } };
}

function nextExpiry(created: Seconds, expires: Seconds): Seconds {
  return anniversary(created, yearOf(expires) - yearOf(created) + 1);
}

/** The same day of a later year. 29 February becomes 28 February in other years. */
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

/** An instant in the `timings` of a domain: YYYY-MM-DD HH:MM:SS, UTC. */
export function timingOf(instant: Seconds): string {
  return new Date(instant * 1000).toISOString().slice(0, 19).replace('T', ' ');
}
