/** Versions of resources as entity tags (RFC 9110, 8.8.3), so that nobody overwrites a change that they have not seen. */
import { hash } from 'node:crypto';

import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };

import type { Db } from '../store/store.ts';
import { OperatorProblem } from './problem.ts';

/** The state for which a change is sent. */
export interface ExpectedVersion {
  /** The header If-Match. */
  readonly ifMatch: string | undefined;
  /** The header If-None-Match. */
  readonly ifNoneMatch: string | undefined;
  /** Reads the resource as the operation that returns it does. Undefined if the change may create it, and it does not exist. */
  read(db: Db): Promise<unknown>;
}

/** The properties that the service changes by itself (`x-counted`). */
const counted: ReadonlySet<string> = new Set(
  Object.values(operatorDocument.components.schemas).flatMap((schema) =>
    Object.entries(Object('properties' in schema ? schema.properties : {})).flatMap(([name, property]) =>
      Object(property)['x-counted'] === true ? [name] : [],
    ),
  ),
);

/** @param body The response of the operation that returns the resource. */
export function versionOf(body: unknown): string {
  const setByPeople = JSON.stringify(body, (name, value: unknown) => (counted.has(name) ? undefined : value));
  return `"${hash('sha256', setByPeople, 'base64url').slice(0, 22)}"`;
}

/**
 * Must run in the transaction of the change, after its lock.
 *
 * @throws OperatorProblem 412 if the resource has another state than If-Match, does not exist, or exists in spite of If-None-Match.
 */
export async function assertUnchanged(db: Db, expected: ExpectedVersion | undefined): Promise<void> {
  if (expected === undefined) return;
  const { ifMatch, ifNoneMatch } = expected;
  const resource = await expected.read(db);
  if (resource !== undefined && ifNoneMatch !== undefined && isNamed(ifNoneMatch, resource)) {
    throw new OperatorProblem(
      'precondition-failed',
      'The resource exists already, and If-None-Match only lets the request create it, so nothing was changed. Read it, and change it with its version.',
    );
  }
  if (ifMatch === undefined) return;
  if (resource === undefined) {
    throw new OperatorProblem(
      'precondition-failed',
      'The resource does not exist, so If-Match fits no state of it, and nothing was changed. Send the request without If-Match to create it.',
    );
  }
  if (isNamed(ifMatch, resource)) return;
  throw new OperatorProblem(
    'precondition-failed',
    'The resource has changed since it was read, so nothing was changed. Read it again, and decide whether your change is still right.',
  );
}

function isNamed(tags: string, resource: unknown): boolean {
  const fitting = new Set(['*', versionOf(resource)]);
  return tags.split(',').some((tag) => fitting.has(tag.trim()));
}
