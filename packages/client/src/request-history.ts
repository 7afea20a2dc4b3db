/** The requests of a program to an account: those that had a response, which date the request log, and those whose response was lost. */
import type { LostRequest } from './lost-request.ts';
import type { Connection } from './runtime/connection.ts';
import type { OutcomeUnknownError } from './runtime/errors.ts';
import type { Clock } from './runtime/options.ts';
import { storedCall } from './stored-call.ts';

export interface RequestHistory {
  /** When the response to each request arrived, by the identifier of the request. None of these requests is lost. */
  readonly respondedAt: ReadonlyMap<string, number>;
  /** The lost requests of errors. They are not properties of the errors, because errors are printed. */
  readonly lostOf: WeakMap<object, LostRequest>;
  /** Keeps the identifier of a request that has a response. */
  remember(requestID: string | null | undefined, now: number): void;
  /** Keeps the request of an error. */
  lose(error: OutcomeUnknownError, request: LostRequest): void;
}

/** Later requests replace earlier ones. */
const MAX_REMEMBERED = 1_000;

function createRequestHistory(): RequestHistory {
  const respondedAt = new Map<string, number>();
  const lostOf = new WeakMap<object, LostRequest>();
  return {
    respondedAt,
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
function dropOldest(collection: Map<unknown, unknown>): void {
  const [oldest] = collection.keys();
  if (collection.size > MAX_REMEMBERED) collection.delete(oldest);
}
