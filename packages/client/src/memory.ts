/** The record that a client keeps of its requests. `reconcile` uses it to tell them from the requests of other clients. */
import type { Reconciliation } from './reconcile.ts';
import type { Prepared } from './runtime/prepare.ts';

/** A request that must not take effect twice and whose outcome is not known. */
export interface LostRequest {
  readonly prepared: Prepared;
  /** By the client's clock. */
  readonly sentAt: number;
  /** The newest request that had a response before this one was sent. */
  readonly after: string | undefined;
  /** Number of attempts. */
  attempts: number;
  /** The outcome, once it is certain. */
  found?: Reconciliation;
  /** Removes it from the open requests, and returns its price to the budget if it had no effect. */
  settle(committed: boolean): void;
}

export interface Memory {
  /** When the response to each request arrived, by the identifier of the request. None of these requests is lost. */
  readonly respondedAt: ReadonlyMap<string, number>;
  /** The newest of them. */
  readonly newest: string | undefined;
  readonly open: Set<LostRequest>;
  /** Entries of the request log that belong to earlier lost requests. */
  readonly claimed: Set<string>;
  /** Keeps the identifier of a request that has a response. */
  remember(requestID: string | null | undefined, now: number): void;
}

/** Later identifiers replace earlier ones. */
const MAX_REMEMBERED = 1_000;

export function memoryOf(): Memory {
  const respondedAt = new Map<string, number>();
  let newest: string | undefined;
  return {
    respondedAt,
    open: new Set(),
    claimed: new Set(),
    get newest() {
      return newest;
    },
    remember(requestID, now) {
      if (typeof requestID !== 'string') return;
      respondedAt.set(requestID, now);
      newest = requestID;
      const [oldest] = respondedAt.keys();
      if (respondedAt.size > MAX_REMEMBERED && oldest !== undefined) respondedAt.delete(oldest);
    },
  };
}
