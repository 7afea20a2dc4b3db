import type { DryRun } from './prepare.ts';

/** A good answer with what came around it. */
export interface WithMeta<T> {
  readonly data: T;
  /** Null on some account and accounting lists (specification: "Response envelope (all endpoints)"). */
  readonly requestID: string | null;
  /** For people, not for programs to compare. */
  readonly message: string;
  readonly status: number;
  /** How often the request was sent. */
  readonly attempts: number;
  /** Its body has been read; for the body itself see `asResponse`. For an answer found in the request log, the answer as it was logged. */
  readonly response: Response;
  /** Paths within `data` that the request log masks and that are therefore missing; undefined for an answer that came the usual way. */
  readonly masked?: readonly string[];
}

/** What a call can do; one of these is done, once. */
export interface Work<T> {
  withMeta(): Promise<WithMeta<T>>;
  asResponse(): Promise<Response>;
  dryRun(): Promise<DryRun>;
}

/**
 * A call that is under way: awaited, it gives the answer's `data`. What else it can give must be asked
 * for at once, on the call itself: `await reseller.vm.create(form).withMeta()`.
 */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag]: string = 'Call';
  #work: Work<T> | undefined;
  #answer: Promise<WithMeta<T>> | undefined;

  constructor(work: Work<T>) {
    this.#work = work;
    // A call that nobody awaits is sent too, but only after the methods below had their chance.
    queueMicrotask(() => this.#work && this.withMeta());
  }

  #take(): Work<T> {
    const work = this.#work;
    if (!work) throw new TypeError('The call is under way. Ask for this on the call itself, at once');
    this.#work = undefined;
    return work;
  }

  /** The answer with request ID, message, status, attempts and response. */
  withMeta(): Promise<WithMeta<T>> {
    return (this.#answer ??= this.#take().withMeta());
  }

  /** The response as it came, its body unread, whatever its status. It is not judged, and sent again only when no response came. */
  asResponse(): Promise<Response> {
    return this.#take().asResponse();
  }

  /** What would be sent. Input and spend guard are asked, and nothing is sent. */
  dryRun(): Promise<DryRun> {
    return this.#take().dryRun();
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a call is a promise
  then<Good = T, Bad = never>(
    good?: ((data: T) => Good | PromiseLike<Good>) | null,
    bad?: ((reason: unknown) => Bad | PromiseLike<Bad>) | null,
  ): Promise<Good | Bad> {
    return this.withMeta()
      .then(({ data }) => data)
      .then(good, bad);
  }

  catch<Bad = never>(bad?: ((reason: unknown) => Bad | PromiseLike<Bad>) | null): Promise<T | Bad> {
    return this.then(null, bad);
  }

  finally(last?: (() => void) | null): Promise<T> {
    return this.then(null).finally(last);
  }
}
