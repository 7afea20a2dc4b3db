import type { Answer } from './answer.ts';
import type { DryRun } from './options.ts';

/** A good answer with what came around it. */
export interface WithMeta<T> extends Answer<T> {
  /** Paths within `data` that the request log masks and that are therefore missing; undefined for an answer that came the usual way. */
  readonly masked?: readonly string[];
}

/**
 * A call that is under way: awaited, it gives the answer's `data`. What else it can give must be asked
 * for at once, on the call itself: `await reseller.vm.create(form).withMeta()`.
 */
export interface Call<T> extends Promise<T> {
  /** The answer with request ID, message, status, attempts and response. For an answer found in the request log, `response` is the answer as it was logged. */
  withMeta(): Promise<WithMeta<T>>;
  /** The response as it came, its body unread, whatever its status. It is not judged, and sent again only when no response came. */
  asResponse(): Promise<Response>;
  /** What would be sent. Input and spend guard are asked, and nothing is sent. */
  dryRun(): Promise<DryRun>;
}

/** Begins a call, which does one of three things, once. A call that nobody awaits is sent too, but only after the methods had their chance. */
export const callOf = <T>(send: () => Promise<WithMeta<T>>, asResponse: Call<T>['asResponse'], dryRun: Call<T>['dryRun']): Call<T> => {
  let isTaken = false;
  let answer: Promise<WithMeta<T>> | undefined;
  const take = <R>(what: () => Promise<R>): Promise<R> => {
    if (isTaken) throw new TypeError('The call is under way: ask for this at once');
    isTaken = true;
    return what();
  };
  const withMeta = () => (answer ??= take(send));
  const promise = Promise.resolve()
    .then(withMeta)
    .then(({ data }) => data);
  // Who asks for something else need not await the call too.
  const instead = <R>(what: () => R): R => {
    promise.catch(() => {});
    return what();
  };
  return Object.assign(promise, {
    withMeta: () => instead(withMeta),
    asResponse: () => instead(() => take(asResponse)),
    dryRun: () => instead(() => take(dryRun)),
  });
};
