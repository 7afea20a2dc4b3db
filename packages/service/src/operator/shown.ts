/** Values as the operator's answers show them. */

/** @param milliseconds Since 1970 UTC. */
export function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** As `instant`; null stays null. */
export function instantOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : instant(milliseconds);
}

/** @param seconds A billing instant. */
export function secondInstant(seconds: number): string {
  return instant(seconds * 1000);
}
