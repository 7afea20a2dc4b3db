import { StoreUnavailableError } from '../store.ts';

/** The unit met another one and may simply be run again: serialization failure, deadlock, and two that took the same new key. */
const COLLISIONS = new Set(['40001', '40P01', '23505']);
/** The database is away, stops, or has no room: connection classes, resources, operator intervention, read-only, a transaction that stood still. */
const UNAVAILABLE = /^(?:08|53|57|58)|^25(?:006|P03)$/;
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);

/** Why a database could not be opened, and what to do, in one line without the password. */
export function openFailure(error: unknown, url: string): string {
  const { host, pathname, username } = new URL(url);
  const [database, user] = [decodeURIComponent(pathname.slice(1)), decodeURIComponent(username)];
  switch (codeOf(error)) {
    case '28P01':
    case '28000':
      return `The database server at ${host} does not let the user '${user}' in. Correct user and password in DATABASE_URL.`;
    case '3D000':
      return `The database server at ${host} has no database '${database}'. Create it (createdb ${database}), or correct DATABASE_URL.`;
    case '42501':
      return `The user '${user}' may not create tables in the database '${database}'. Grant it that, or name another user in DATABASE_URL.`;
    case '53300':
      return `The database server at ${host} has no connection left. Raise its max_connections, or stop other nodes.`;
  }
  if (isAway(error))
    return `The database server of DATABASE_URL cannot be reached at ${host} (${codeOf(error) || messageOf(error)}). Start it, or correct host and port.`;
  return `The database of DATABASE_URL cannot be used (${messageOf(error)}). Check that the URL is right, and that its user may create tables.`;
}

/** Whether running the unit again may help at once. */
export function isCollision(error: unknown): boolean {
  return COLLISIONS.has(codeOf(error));
}

/** The error as callers know it: whether trying again later helps. */
export function unavailableOr(error: unknown): unknown {
  return isAway(error) ? new StoreUnavailableError('The database cannot be reached at the moment.', { cause: error }) : error;
}

function isAway(error: unknown): boolean {
  const code = codeOf(error);
  return (
    UNAVAILABLE.test(code) ||
    NETWORK.has(code) ||
    /Connection terminated|connection timeout|timeout exceeded|not queryable/i.test(messageOf(error))
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
