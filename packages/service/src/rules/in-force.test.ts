import fc from 'fast-check';
import { expect, test } from 'vitest';

import { inForceAt, unchangedAround, versionStateAt } from './in-force.ts';

const instant = fc.integer({ min: 0, max: 50 });
const versionsOf = (instants: readonly number[]) => instants.map((validFrom) => ({ validFrom }));
const some = fc.uniqueArray(instant, { minLength: 1, maxLength: 8 });

test('returns the latest version that has begun, or the first one before all of them', () => {
  fc.assert(
    fc.property(some, instant, (instants, now) => {
      const begun = instants.filter((one) => one <= now);
      expect(inForceAt(versionsOf(instants), now).validFrom).toBe(begun.length > 0 ? Math.max(...begun) : Math.min(...instants));
    }),
  );
  expect(() => inForceAt([], 0)).toThrow(RangeError);
});

test('marks one version as in force, earlier ones as past, and later ones as scheduled', () => {
  fc.assert(
    fc.property(some, instant, (instants, now) => {
      const versions = versionsOf(instants);
      const states = versions.toSorted((a, b) => a.validFrom - b.validFrom).map((version) => versionStateAt(versions, version, now));
      expect(states.join(' ')).toMatch(/^(past )*in_force( scheduled)*$/);
    }),
  );
});

test('returns the period around an instant in which the same version is in force', () => {
  fc.assert(
    fc.property(some, instant, (instants, now) => {
      const versions = versionsOf(instants);
      const { from, until } = unchangedAround(instants, now);
      expect(from <= now && now < until).toBe(true);
      const present = inForceAt(versions, now);
      for (let other = 0; other <= 51; other++) if (other >= from && other < until) expect(inForceAt(versions, other)).toBe(present);
      if (until !== Infinity && from !== -Infinity) expect(inForceAt(versions, until)).not.toBe(present);
    }),
  );
});
