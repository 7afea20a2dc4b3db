/** The account in a stored call: a hash of its key, and an earlier request of it. */
import type { RequestHistory } from './request-history.ts';
import type { Connection } from './runtime/connection.ts';

/** A request that the service logged for an account. Its log entry proves that another key is one of the same account. */
export interface Witness {
  readonly requestID: string;
  /** When its response arrived, by the client's clock. */
  readonly at: number;
}

/** A hash of the service and the API key. Undefined where the platform has no digest. */
export async function accountOf({ base, credentials }: Connection): Promise<string | undefined> {
  try {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify([base, credentials()])));
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  } catch {
    return undefined;
  }
}

/** The last request that had a response before a time. */
export function witnessBefore({ respondedAt }: RequestHistory, time: number): Witness | undefined {
  const earlier = [...respondedAt].filter(([, at]) => at <= time);
  const [requestID, at] = earlier.at(-1) ?? [];
  return requestID === undefined || at === undefined ? undefined : { requestID, at };
}
