/** The account in a stored call: a hash of its key, and an earlier request of it. */
import type { Witness } from './lost-request.ts';
import type { Connection } from './runtime/connection.ts';
import { sha256Of } from './runtime/hash.ts';

/** A hash of the service and the API key. Undefined where the platform has no digest. */
export function accountOf({ base, credentials }: Connection): Promise<string | undefined> {
  return sha256Of(JSON.stringify([base, credentials()]));
}

/** The last request that had a response before a time. */
export function witnessBefore(respondedAt: ReadonlyMap<string, number>, time: number): Witness | undefined {
  const earlier = [...respondedAt].filter(([, at]) => at <= time);
  const [requestID, at] = earlier.at(-1) ?? [];
  return requestID === undefined || at === undefined ? undefined : { requestID, at };
}
