/** Instants as texts: RFC 3339 in UTC, with milliseconds. Days in query parameters are in UTC too. */

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

/** The first instant (UTC) of a day, in milliseconds. */
export function startOfUtcDay(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}
