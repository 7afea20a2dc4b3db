/** The record that a program keeps of its requests, to tell them from those of other programs in the request log. */
import type { Witness } from './account.ts';
import type { Reconciliation } from './reconcile.ts';
import type { Connection } from './runtime/connection.ts';
import type { OutcomeUnknownError } from './runtime/errors.ts';
import type { Clock } from './runtime/options.ts';
import type { Prepared } from './runtime/prepare.ts';
import { storedCall } from './stored-call.ts';

/** A request that must not take effect twice and whose response was lost. Times are by the client's clock. */
export interface LostRequest {
  readonly prepared: Prepared;
  readonly sentAt: number;
  /** When it was first sent, by the clock of the machine, in milliseconds since 1970. */
  readonly sentOn: number;
  /** When its last attempt ended. */
  readonly endedAt: number;
  readonly attempts: number;
  /** Whether another process made it. Its other requests are unknown, and so are secrets of the form. */
  readonly isStored?: true;
  /** The hash of the key with which it was sent. */
  readonly account?: string | undefined;
  /** An earlier request of its account. */
  readonly witness?: Witness | undefined;
  /** Whether it was sent with another API key, which may be that of another account. */
  readonly isOfOtherKey?: boolean;
  /** The outcome, once it is certain. */
  outcome?: Reconciliation;
}

export interface RequestHistory {
  /** Requests whose responses have not arrived yet. */
  readonly inProgress: Set<Prepared>;
  /** When the response to each request arrived, by the identifier of the request. None of these requests is lost. */
  readonly respondedAt: Map<string, number>;
  /** Entries of the log that belong to earlier lost requests. */
  readonly claimed: Set<string>;
  /** Lost requests whose outcome is not known. */
  readonly lost: Set<LostRequest>;
  /** The lost requests of errors. They are not properties of the errors, because errors are printed. */
  readonly lostOf: WeakMap<object, LostRequest>;
  /** Keeps the identifier of a request that has a response. */
  remember(requestID: string | null | undefined, now: number): void;
  /** Keeps the request of an error. */
  lose(error: OutcomeUnknownError, request: LostRequest): void;
}

/** Later requests replace earlier ones. */
const MAX_REMEMBERED = 1_000;

export function createRequestHistory(): RequestHistory {
  const respondedAt = new Map<string, number>();
  const lost = new Set<LostRequest>();
  const lostOf = new WeakMap<object, LostRequest>();
  return {
    inProgress: new Set(),
    respondedAt,
    claimed: new Set(),
    lost,
    lostOf,
    remember(requestID, now) {
      if (typeof requestID !== 'string') return;
      respondedAt.set(requestID, now);
      dropOldest(respondedAt);
    },
    lose(error, request) {
      lostOf.set(error, request);
      // Not enumerable, as a method of the class would be.
      Object.defineProperty(error, 'toJSON', { value: () => storedCall(error, request) });
      lost.add(request);
      dropOldest(lost);
    },
  };
}

const histories = new WeakMap<Clock, Map<string, RequestHistory>>();

/** The record of an account, which all its clients in a program share, as long as their clocks agree. */
export function historyOf({ base, credentials, clock }: Connection): RequestHistory {
  const accounts = histories.get(clock) ?? new Map<string, RequestHistory>();
  const account = JSON.stringify([base, credentials()]);
  const history = accounts.get(account) ?? createRequestHistory();
  histories.set(clock, accounts.set(account, history));
  dropOldest(accounts);
  return history;
}

/** Removes the oldest entry of a collection that has become too large. */
export function dropOldest(collection: Map<unknown, unknown> | Set<unknown>): void {
  const [oldest] = collection.keys();
  if (collection.size > MAX_REMEMBERED) collection.delete(oldest);
}
