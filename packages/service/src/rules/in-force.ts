/** Something that applies from an instant until the next one does. */
export interface Dated {
  /** Milliseconds since 1970 UTC. */
  readonly validFrom: number;
}

/**
 * The version in force at an instant.
 *
 * @param versions At least one. The first also applies before its `validFrom`, because the clock of another instance may be behind.
 * @param now Milliseconds.
 */
export function inForceAt<Version extends Dated>(versions: readonly Version[], now: number): Version {
  const ascending = versions.toSorted((one, other) => one.validFrom - other.validFrom);
  const version = ascending.findLast(({ validFrom }) => validFrom <= now) ?? ascending[0];
  if (!version) throw new RangeError('There must be at least one version.');
  return version;
}

/**
 * The period around an instant in which the same versions are in force.
 *
 * @param instants When a version begins to apply (milliseconds), in any order.
 * @returns The first instant of the period, and the first one after it.
 */
export function unchangedAround(instants: readonly number[], now: number): { readonly from: number; readonly until: number } {
  return {
    from: Math.max(-Infinity, ...instants.filter((instant) => instant <= now)),
    until: Math.min(Infinity, ...instants.filter((instant) => instant > now)),
  };
}

export type VersionState = 'past' | 'in_force' | 'scheduled';

/** The state of one of several versions at an instant, in milliseconds. */
export function versionStateAt<Version extends Dated>(versions: readonly Version[], { validFrom }: Dated, now: number): VersionState {
  const inForce = inForceAt(versions, now).validFrom;
  if (validFrom === inForce) return 'in_force';
  return validFrom < inForce ? 'past' : 'scheduled';
}
