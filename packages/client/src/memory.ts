import type { Reconciliation } from './reconcile.ts';
/** The record that a client keeps of its requests. `reconcile` uses it to tell them from the requests of other clients. */
import type { Prepared } from './runtime/prepare.ts';

/** A request that must not take effect twice and whose outcome is not known. */
export interface LostRequest {
  readonly prepared: Prepared;
  /** By the client's clock. */
  readonly sentAt: number;
  /** The newest request that was answered before this one was sent. */
  readonly after: string | undefined;
  /** How many times it was sent. */
  attempts: number;
  /** The outcome, once it is certain. */
  found?: Reconciliation;
  /** Takes it out of the open requests. Gives its price back to the budget when it had no effect. */
  settle(committed: boolean): void;
}

export interface Memory {
  /** Requests that were answered, by identifier, with the time of the answer. None of them is a lost one. */
  readonly answered: ReadonlyMap<string, number>;
  /** The newest of them. */
  readonly newest: string | undefined;
  readonly open: Set<LostRequest>;
  /** Entries of the request log that were found to be those of earlier lost requests. */
  readonly claimed: Set<string>;
  /** Keeps the identifier of an answered request. */
  remember(requestID: string | null | undefined, now: number): void;
}

/** Later identifiers replace earlier ones. */
const MAX_REMEMBERED = 1_000;

export function memoryOf(): Memory {
  const answered = new Map<string, number>();
  let newest: string | undefined;
  return {
    answered,
    open: new Set(),
    claimed: new Set(),
    get newest() {
      return newest;
    },
    remember(requestID, now) {
      if (typeof requestID !== 'string') return;
      answered.set(requestID, now);
      newest = requestID;
      const [oldest] = answered.keys();
      if (answered.size > MAX_REMEMBERED && oldest !== undefined) answered.delete(oldest);
    },
  };
}
