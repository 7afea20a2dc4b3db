import fc from 'fast-check';
import { expect, test } from 'vitest';

import { beginRegistration, cancelDomain, reachExpiry, statusOf, timingOf, withdrawDomainCancellation } from './domain-registration.ts';
import type { Registration } from './domain-registration.ts';

const instant = (iso: string) => Date.parse(iso) / 1000;

/** The expiries of a domain that is renewed each time. */
function expiriesFrom(iso: string, count: number): string[] {
  const expiries: string[] = [];
  let registration = beginRegistration(instant(iso));
  while (expiries.length < count) {
    expiries.push(timingOf(registration.expires));
    const reached = reachExpiry(registration, registration.expires);
    if (!('next' in reached)) throw new Error('not renewed');
    registration = reached.next;
  }
  return expiries;
}

test('expires a domain on the anniversary of its registration', () => {
  expect(expiriesFrom('2026-11-10T12:00:07Z', 3)).toEqual(['2027-11-10 12:00:07', '2028-11-10 12:00:07', '2029-11-10 12:00:07']);
});

test('expires a domain of 29 February on 28 February, or on the 29th in a leap year', () => {
  expect(expiriesFrom('2028-02-29T23:59:59Z', 4)).toEqual([
    '2029-02-28 23:59:59',
    '2030-02-28 23:59:59',
    '2031-02-28 23:59:59',
    '2032-02-29 23:59:59',
  ]);
});

test('returns the status LOCK for 60 days', () => {
  const { lockedUntil } = beginRegistration(instant('2026-11-10T12:00:00Z'));
  const statusAt = (iso: string, transferLock = false) => statusOf({ lockedUntil, transferLock }, instant(iso));
  expect(statusAt('2027-01-09T11:59:59Z')).toBe('LOCK');
  expect(statusAt('2027-01-09T12:00:00Z')).toBe('OK');
  expect(statusAt('2027-01-09T12:00:00Z', true)).toBe('LOCK');
});

interface Model {
  /** Undefined when the domain has ended. */
  readonly registration: Registration | undefined;
  readonly now: number;
}

const steps = fc.array(
  fc.record({ act: fc.constantFrom('cancel', 'withdraw', 'expire'), after: fc.integer({ min: 0, max: 400 * 86_400 }) }),
  { maxLength: 40 },
);

test('makes no illegal transition for any sequence of actions', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: instant('2090-01-01T00:00:00Z') }), steps, (start, acts) => {
      let model: Model = { registration: beginRegistration(start), now: start };
      for (const { act, after } of acts) {
        const now = model.now + after;
        const { registration } = model;
        if (!registration) return;
        const result = { cancel: cancelDomain, withdraw: withdrawDomainCancellation, expire: reachExpiry }[act](registration, now);
        const isOver = now >= registration.expires;
        if ('ended' in result)
          expect({ act, isOver, terminated: registration.terminated }).toEqual({ act: 'expire', isOver: true, terminated: true });
        else if ('refused' in result) expect(isOver === (act !== 'expire') || registration.terminated === (act === 'cancel')).toBe(true);
        else {
          const { next } = result;
          expect({ created: next.created, lockedUntil: next.lockedUntil }).toEqual({
            created: start,
            lockedUntil: registration.lockedUntil,
          });
          expect(next.terminated).toBe(act === 'cancel');
          expect(next.terminated).toBe(act === 'expire' ? false : !registration.terminated);
          const days = (next.expires - registration.expires) / 86_400;
          expect(act === 'expire' ? [365, 366] : [0]).toContain(days);
        }
        model = { now, registration: 'next' in result ? result.next : 'ended' in result ? undefined : registration };
      }
    }),
  );
});

test('allows a cancellation and its withdrawal until the last second before the expiry', () => {
  const registration = beginRegistration(instant('2026-11-10T12:00:00Z'));
  const terminated = { ...registration, terminated: true };
  const { expires } = registration;
  expect(cancelDomain(registration, expires - 1)).toEqual({ next: terminated });
  expect(cancelDomain(registration, expires)).toEqual({ refused: 'expired' });
  expect(withdrawDomainCancellation(terminated, expires - 1)).toEqual({ next: registration });
  expect(withdrawDomainCancellation(terminated, expires)).toEqual({ refused: 'expired' });
});

test('returns the reason for each step that a state does not allow', () => {
  const registration = beginRegistration(instant('2026-11-10T12:00:00Z'));
  const { created, expires } = registration;
  expect(cancelDomain({ ...registration, terminated: true }, created)).toEqual({ refused: 'already cancelled' });
  expect(withdrawDomainCancellation(registration, created)).toEqual({ refused: 'not cancelled' });
  expect(reachExpiry(registration, expires - 1)).toEqual({ refused: 'not due' });
  expect(reachExpiry({ ...registration, terminated: true }, expires)).toEqual({ ended: true });
});
