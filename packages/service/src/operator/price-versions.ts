/** What scheduling and withdrawing have in common for the prices of host systems and of TLDs. */
import { versionStateAt } from '../rules/in-force.ts';
import type { Dated } from '../rules/in-force.ts';
import { toInstant } from './instants.ts';
import { notFound, OperatorProblem, validationProblem } from './problem.ts';

/** A date for which prices are to be scheduled. */
export interface ScheduleRequest {
  /** The host system or the TLD, as the beginning of a sentence. */
  readonly subject: string;
  /** Its prices. */
  readonly versions: readonly Dated[];
  /** Undefined for now. */
  readonly wanted: string | undefined;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * The instant from which prices apply, in milliseconds.
 *
 * @throws OperatorProblem 422 if it is in the past, 409 if other prices begin then.
 */
export function newDateOf({ subject, versions, wanted, now }: ScheduleRequest): number {
  const validFrom = wanted === undefined ? now : Date.parse(wanted);
  if (validFrom < now) {
    const detail = `must not be in the past: it is ${toInstant(now)}. Leave it out for prices from now on`;
    throw validationProblem([{ pointer: '#/valid_from', detail }]);
  }
  if (versions.some((version) => version.validFrom === validFrom)) {
    const detail = `${subject} already has prices from ${toInstant(validFrom)} on. Withdraw them first, or choose another instant.`;
    throw new OperatorProblem('wrong-state', detail);
  }
  return validFrom;
}

/** The prices with a date. Undefined if there are none. */
export function versionFrom<Version extends Dated>(versions: readonly Version[], validFrom: string): Version | undefined {
  return versions.find((version) => version.validFrom === Date.parse(validFrom));
}

/** @throws OperatorProblem 404 if no prices have the date, 409 if they are or were in force. */
export function scheduledFrom(versions: readonly Dated[], validFrom: string, now: number): Dated {
  const version = versionFrom(versions, validFrom);
  if (!version) throw notFound('price with this date');
  if (versionStateAt(versions, version, now) === 'scheduled') return version;
  const since = toInstant(version.validFrom);
  const detail = `These prices have applied since ${since}. Only scheduled prices can be withdrawn; schedule other prices instead.`;
  throw new OperatorProblem('wrong-state', detail);
}
