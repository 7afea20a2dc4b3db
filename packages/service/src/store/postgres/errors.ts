import { isError } from '@reseller/contract/is-error';

import { StoreOpenError, StoreUnavailableError, StoreUnreachableError } from '../store.ts';
import { readDatabaseUrl } from './hosts.ts';

/** The transaction collided with another one and can be retried immediately: serialization failure, deadlock, two inserts of one new key. */
const COLLISIONS = new Set(['40001', '40P01', '23505']);
/** The session cannot write. */
export const READ_ONLY = '25006';
/** The database cannot be reached or cannot write: connections, resources, operator intervention, read-only, idle-transaction timeout. */
const UNAVAILABLE = /^(?:08|53|57|58)|^25006$|^25P03$/;
const FEATURE_NOT_SUPPORTED = '0A000';
const OUTDATED_PLAN = /cached plan must not change result type/;
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);

/** The certificate of the server has no known authority. */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/** Messages of driver errors that have no code. */
const NO_CONNECTION = /due to connection timeout/;
const POOL_IS_FULL = /timeout exceeded when trying to connect/;
const BROKEN = /Connection terminated|not queryable/;

/** What to throw if a database could not be opened. */
export function openFailure(error: unknown, url: string): StoreOpenError {
  if (error instanceof StoreOpenError) return error;
  const Failure = isUnavailable(error) ? StoreUnreachableError : StoreOpenError;
  return new Failure(explanationOf(error, url), { cause: error });
}

/** The reason why a database could not be opened, and the remedy, in one line without the password. */
function explanationOf(error: unknown, url: string): string {
  const { hosts, database, user } = readDatabaseUrl(url) ?? { hosts: [], database: '', user: '' };
  const host = hosts.join(', ');
  switch (codeOf(error)) {
    case '28P01':
    case '28000':
      return `The database server at ${host} rejects the user '${user}'. Correct user and password in DATABASE_URL.`;
    case '3D000':
      return `The database server at ${host} has no database '${database}'. Create it (createdb ${database}), or correct DATABASE_URL.`;
    case '42501':
      return `The user '${user}' may not create tables in the database '${database}'. Grant it that, or name another user in DATABASE_URL.`;
    case READ_ONLY:
      return `The database at ${host} accepts no writes, so it is a standby or set to read-only. Name its primary in DATABASE_URL, or all of its hosts: postgres://user:password@one:5432,two:5432/database.`;
    case '53300':
      return `The database server at ${host} has no free connection. Raise its max_connections, or stop other instances.`;
  }
  // After a semicolon, Node advises an option of its command line.
  if (UNTRUSTED.has(codeOf(error)))
    return `The certificate of the database server at ${host} is not trusted (${messageOf(error).split(';', 1).join('')}). Name the file of its authority in DATABASE_URL, as sslrootcert=/path/ca.pem, or accept any certificate with sslmode=no-verify.`;
  if (isUnavailable(error))
    return `The database server of DATABASE_URL cannot be reached at ${host} (${codeOf(error) || messageOf(error)}). Start it, or correct host and port.`;
  return `The database of DATABASE_URL cannot be used (${messageOf(error)}). Check that the URL is right, and that its user may create tables.`;
}

/** Whether an immediate retry of the transaction may succeed. */
export function isCollision(error: unknown): boolean {
  return COLLISIONS.has(codeOf(error)) || isOutdatedPlan(error);
}

/** Whether a statement was refused because an earlier one of its transaction has failed. */
export function isAborted(error: unknown): boolean {
  return codeOf(error) === '25P02';
}

/** Whether a migration did not get a lock, because others hold it for longer than its timeout or wait for each other. */
export function isLockFailure(error: unknown): boolean {
  return ['55P03', '40P01'].includes(codeOf(error));
}

/** Whether a prepared statement returns other columns than when it was prepared, because a newer version has added some. */
export function isOutdatedPlan(error: unknown): boolean {
  return codeOf(error) === FEATURE_NOT_SUPPORTED && OUTDATED_PLAN.test(messageOf(error));
}

/** Turns an outage into a StoreUnavailableError, and returns other errors unchanged. */
export function unavailableOr(error: unknown): unknown {
  return isUnavailable(error) ? new StoreUnavailableError('The database cannot be reached at the moment.', { cause: error }) : error;
}

function isUnavailable(error: unknown): boolean {
  return isHostFailure(error) || POOL_IS_FULL.test(messageOf(error));
}

/** Whether another host of the database may be able to do what this one could not. */
export function isHostFailure(error: unknown): boolean {
  const code = codeOf(error);
  return UNAVAILABLE.test(code) || NETWORK.has(code) || NO_CONNECTION.test(messageOf(error)) || BROKEN.test(messageOf(error));
}

/** Whether the database did not respond in time. A server that refuses connections responds quickly. */
export function isTimeout(error: unknown): boolean {
  return codeOf(error) === 'ETIMEDOUT' || NO_CONNECTION.test(messageOf(error));
}

function codeOf(error: unknown): string {
  return isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function messageOf(error: unknown): string {
  return isError(error) ? error.message : '';
}
