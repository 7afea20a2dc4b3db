/** Instants in responses of the operator API: RFC 3339 in UTC. Days in its query parameters are in UTC too. */
import { isDay } from '../rules/day.ts';
import { OperatorProblem } from './problem.ts';

/** @param milliseconds Since 1970 UTC. */
export function toInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Like `toInstant`, but returns null for null. */
export function toInstantOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : toInstant(milliseconds);
}

/** @param seconds A billing instant. */
export function secondsToInstant(seconds: number): string {
  return toInstant(seconds * 1000);
}

/**
 * The first instant (UTC) of the day in a query parameter, in milliseconds.
 *
 * @throws OperatorProblem 400 if the day is not in the calendar.
 */
export function startOfQueryDay(parameter: string, day: string): number {
  if (isDay(day)) return Date.parse(`${day}T00:00:00Z`);
  throw new OperatorProblem('malformed-request', `The query parameter ${parameter} must be a day of the calendar, such as 2024-11-04.`);
}
