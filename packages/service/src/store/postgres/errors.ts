import { StoreUnavailableError } from '../store.ts';

/** The unit met another one and may simply be run again: serialization failure, deadlock, and two that took the same new key. */
const COLLISIONS = new Set(['40001', '40P01', '23505']);
/** The database is away, stops, or has no room: connection classes, resources, operator intervention, read-only. */
const UNAVAILABLE = /^(?:08|53|57|58)|^25006$/;
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND']);

/** Whether running the unit again may help at once. */
export function isCollision(error: unknown): boolean {
  return COLLISIONS.has(codeOf(error));
}

/** The error as callers know it: whether trying again later helps. */
export function unavailableOr(error: unknown): unknown {
  const code = codeOf(error);
  const away =
    UNAVAILABLE.test(code) || NETWORK.has(code) || /Connection terminated|connection timeout|timeout exceeded/i.test(messageOf(error));
  return away ? new StoreUnavailableError('The database cannot be reached at the moment.', { cause: error }) : error;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
