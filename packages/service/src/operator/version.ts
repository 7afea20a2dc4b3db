/** Versions of resources as entity tags (RFC 9110, 8.8.3), so that nobody overwrites a change that they have not seen. */
import { hash } from 'node:crypto';

import type { Db } from '../store/store.ts';
import { OperatorProblem } from './problem.ts';

/** The state for which a change is sent. */
export interface ExpectedVersion {
  /** The header If-Match. */
  readonly ifMatch: string;
  /** Reads the resource as the operation that returns it does. */
  read(db: Db): Promise<unknown>;
}

/** @param body The response of the operation that returns the resource. */
export function versionOf(body: unknown): string {
  return `"${hash('sha256', JSON.stringify(body), 'base64url').slice(0, 22)}"`;
}

/**
 * Must run in the transaction of the change, after its lock.
 *
 * @throws OperatorProblem 412 if the resource has another state.
 */
export async function assertUnchanged(db: Db, expected: ExpectedVersion | undefined): Promise<void> {
  if (expected === undefined || expected.ifMatch.trim() === '*') return;
  const current = versionOf(await expected.read(db));
  if (expected.ifMatch.split(',').some((tag) => tag.trim() === current)) return;
  throw new OperatorProblem(
    'precondition-failed',
    'The resource has changed since it was read, so nothing was changed. Read it again, and decide whether your change is still right.',
  );
}
